// Guides before names of the API: Sphinx's weights, but for objPrio.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: -8, 1: -8, 2: -8},
  objPrioDefault: -8,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
