"""Auditing: Fourier layers in networks and agents of any library, and advice on σ."""

from lff.auditing.audit import Audit, audit
from lff.auditing.findings import Finding
from lff.auditing.insert import insert_front
from lff.auditing.layers import LayerReport
from lff.auditing.probing import layer_inputs, reads_action
from lff.auditing.sigma import SigmaAdvice, advise_sigma
from lff.auditing.unpack import Parts, agent_parts
