"""How every page looks: one style sheet, light and dark, for a phone and for a desk."""

from lff.figures.style import BASELINE, PALETTE

DARK = {
    "#0072B2": "#4aa8e8",
    "#D55E00": "#ff8a3d",
    "#009E73": "#2fc79b",
    "#CC79A7": "#e39ac4",
    "#E69F00": "#f2b632",
    "#56B4E9": "#9ad4f5",
    "#000000": "#e8eaed",
    BASELINE: "#a2a6ad",
}
"""The colours of the figures on a dark ground."""
COLORS = (*PALETTE, BASELINE)

_SERIES = "".join(
    f".s{i}{{stroke:var(--c{i})}}.f{i}{{fill:var(--c{i})}}\n" for i in range(len(COLORS))
)
_LIGHT = "".join(f"--c{i}:{color};" for i, color in enumerate(COLORS))
_DARK = "".join(f"--c{i}:{DARK[color]};" for i, color in enumerate(COLORS))

STYLE = f"""
:root{{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#59626e;
--line:#dfe3e8;--link:#0b5cad;--mark:#fff4d6;--yes:#12703f;--yes-bg:#e2f4ea;--no:#a8231f;
--no-bg:#fce8e6;--open:#7a5200;--open-bg:#fdf1d3;--mute:#4b5563;--mute-bg:#e9ecf0;{_LIGHT}}}
@media (prefers-color-scheme:dark){{
:root{{--ground:#0f1216;--card:#181c22;--ink:#e8eaed;--soft:#a2abb8;--line:#2d333c;--link:#7db8f5;
--mark:#3a3115;--yes:#6fd79d;--yes-bg:#12301f;--no:#ff9a92;--no-bg:#3b1715;--open:#f0c25c;
--open-bg:#352a0e;--mute:#b9c0cb;--mute-bg:#262c35;{_DARK}}}}}
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%;text-size-adjust:100%}}
body{{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}}
main{{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}}
nav{{font-size:.9rem}}
a{{color:var(--link)}}
h1{{font-size:clamp(1.4rem,1.1rem + 1.6vw,2.1rem);line-height:1.2;margin:.4rem 0 .6rem;
overflow-wrap:anywhere;text-wrap:balance}}
h2{{font-size:1.2rem;margin:2.4rem 0 .6rem}}
h3{{font-size:1rem;margin:1.4rem 0 .5rem;overflow-wrap:anywhere}}
p{{margin:.4rem 0;max-width:46rem;overflow-wrap:anywhere}}
.note,.meta,figcaption,.because{{color:var(--soft);font-size:.92rem}}
.chips{{display:flex;flex-wrap:wrap;gap:.4rem;margin:.6rem 0}}
.chip{{display:inline-block;border-radius:999px;padding:.1rem .7rem;font-size:.85rem;
font-weight:600;background:var(--mute-bg);color:var(--mute);overflow-wrap:anywhere}}
.confirmed{{background:var(--yes-bg);color:var(--yes)}}
.refuted{{background:var(--no-bg);color:var(--no)}}
.inconclusive{{background:var(--open-bg);color:var(--open)}}
.banner{{background:var(--open-bg);color:var(--open);border-radius:.6rem;padding:.6rem .9rem;
max-width:none;margin:1rem 0}}
.card{{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:.9rem 1rem;
margin:.7rem 0}}
.card p{{max-width:none}}
.card .chips{{margin:0 0 .4rem}}
.claim{{font-weight:600}}
.card ul{{margin:.4rem 0 0;padding-left:1.1rem;font-size:.88rem;color:var(--soft);
overflow-wrap:anywhere}}
.grid{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.8rem}}
.grid.two{{grid-template-columns:repeat(auto-fill,minmax(min(100%,max(19rem,40%)),1fr))}}
.grid.one{{grid-template-columns:minmax(0,36rem)}}
figure{{background:var(--card);border:1px solid var(--line);border-radius:.7rem;margin:0;
padding:.6rem .6rem .3rem;min-width:0}}
figcaption{{font-weight:600;color:var(--ink);padding:0 .2rem .3rem;overflow-wrap:anywhere}}
svg.plot{{display:block;width:100%;height:auto;font-family:inherit}}
svg.plot text{{fill:currentColor}}
.legend{{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin:.5rem 0 .8rem;padding:0;
list-style:none;font-size:.9rem}}
.legend li{{display:flex;align-items:center;gap:.4rem;overflow-wrap:anywhere}}
.legend svg{{flex:none}}
.scroll{{overflow-x:auto;max-width:100%;border:1px solid var(--line);border-radius:.7rem;
background:var(--card);margin:.5rem 0}}
pre.scroll{{padding:.7rem .9rem;font-size:.88rem}}
code{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}}
table{{border-collapse:collapse;width:100%;font-size:.9rem}}
th,td{{text-align:left;padding:.38rem .8rem;border-bottom:1px solid var(--line);vertical-align:top}}
tbody tr:last-child>*{{border-bottom:0}}
thead th{{color:var(--soft);font-weight:600;white-space:nowrap}}
tbody th{{font-weight:500;min-width:9rem}}
.number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
td:not(.number){{min-width:8rem}}
td .chip{{white-space:nowrap}}
.group th{{background:var(--ground);color:var(--soft);font-weight:600}}
.card ul.claims{{list-style:none;padding:0;color:inherit;font-size:.95rem}}
.claims li{{display:flex;flex-wrap:wrap;gap:.2rem .6rem;align-items:baseline;padding:.25rem 0;
border-top:1px solid var(--line)}}
.marked>*{{background:var(--mark)}}
summary{{cursor:pointer;color:var(--link);padding:.3rem 0}}
footer{{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);
font-size:.85rem}}
@media print{{body{{background:none}}figure,.card{{break-inside:avoid}}}}
{_SERIES}"""
"""The style sheet; the page's policy allows this one by its hash."""
