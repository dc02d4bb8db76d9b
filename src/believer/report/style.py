"""The look of every page: light and dark, for a phone, a desk and a printer. Nothing is loaded from elsewhere."""

_LIGHT = """
  --ink: #1a1a1a; --paper: #ffffff; --soft: #595959; --line: #dddddd; --strong: #767676; --link: #005a8c;
  --use: #eef5fa; --edge: #0072b2; --shadow: rgb(0 0 0 / .3); --ends: #ffffff00;
  --good: #cfe9dc; --bad: #f8d5c2; --mixed: #fbeab6; --open: #e6e6e6;
"""
_DARK = """
  --ink: #e6e6e6; --paper: #16181b; --soft: #a8adb3; --line: #383c42; --strong: #80868d; --link: #7cc4f0;
  --use: #1b2a36; --edge: #4aa3df; --shadow: rgb(255 255 255 / .35); --ends: #16181b00;
  --good: #1d4a38; --bad: #5e2f17; --mixed: #4f4313; --open: #34373c;
"""

_TONES = "\n".join(
    f".{tone} {{ background: var(--{tone}); }}\n"
    f".{tone}[class~='1'] {{ background: color-mix(in srgb, var(--{tone}) 35%, var(--paper)); }}\n"
    f".{tone}[class~='2'] {{ background: color-mix(in srgb, var(--{tone}) 70%, var(--paper)); }}"
    for tone in ("good", "mixed", "bad", "open")
)

_HINTS = "\n".join(
    f"@media screen and (max-width: {rem}rem) {{ .past{rem} > .hint {{ display: block; }} }}"
    for rem in (26, 44, 74, 999)
)
"""A table wider than its window says so: its class names the widest window, in rem, in which it does not fit."""

STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} img {{ filter: brightness(.88); }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; }} h2 {{ font-size: 1.25rem; margin-top: 2.5rem; }}
h3 {{ font-size: 1.0625rem; margin-top: 2rem; }} h1, h2, h3, p, li, figcaption {{ overflow-wrap: anywhere; }}
a {{ color: var(--link); }} nav ul {{ padding-left: 1.2rem; }} nav ul ul {{ display: none; }}
.links {{ margin: .25rem 0; }}
.frame {{ margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; padding: .25rem .5rem .5rem; }}
.caption {{ font-weight: 600; margin: .25rem 0; }}
.hint {{ display: none; margin: .25rem 0; font-size: .8125rem; color: var(--soft); }}
.scroll {{ overflow-x: auto; scrollbar-width: thin; background:
  linear-gradient(to right, var(--paper) 40%, var(--ends)) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, var(--ends)) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shadow), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shadow), transparent) right / 1rem 100% no-repeat scroll; }}
table {{ border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: 600; padding: .25rem 0; white-space: nowrap; }}
th, td {{ padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }}
th {{ vertical-align: bottom; border-bottom: 2px solid var(--strong); }}
.numbers :is(th, td):first-child {{ position: sticky; left: 0; background: var(--paper); max-width: 40vw;
  white-space: normal; overflow-wrap: anywhere; min-width: 5rem; }}
.wide table {{ min-width: 40rem; }} .words td {{ white-space: normal; max-width: 30rem; vertical-align: top; }}
figure {{ margin: 1rem 0; }} figcaption {{ color: var(--soft); font-size: .875rem; }}
img {{ max-width: 100%; height: auto; display: block; background: #fff; border-radius: 6px; }}
.use {{ background: var(--use); border-left: 4px solid var(--edge); padding: .5rem 1rem; margin: .75rem 0; }}
{_TONES}
@media screen and (max-width: 44rem) {{ figure .scroll > img {{ max-width: none; width: 40rem; }} }}
.made {{ color: var(--soft); font-size: .875rem; }}
.back {{ position: fixed; right: .5rem; bottom: .5rem; padding: .25rem .75rem; background: var(--paper);
  border: 1px solid; }}
{_HINTS}
@media screen and (max-width: 74.99rem) {{
  .long {{ display: flex; flex-direction: column; }} .long nav {{ order: 1; }}
}}
@media screen and (min-width: 75rem) {{
  body {{ max-width: 90rem; display: grid; grid-template-columns: 14rem minmax(0, 70rem); column-gap: 2rem; }}
  h1 {{ grid-column: 1 / -1; }} .back {{ display: none; }}
  nav {{ position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; font-size: .875rem; }}
  nav ul ul, nav ul ul a {{ display: block; }}
  nav ul ul a {{ white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }}
}}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 11pt; }} .back {{ display: none; }} .scroll {{ overflow: visible; }}
  table {{ font-size: 8pt; }} th, td, caption {{ white-space: normal; }} h2, h3 {{ break-after: avoid; }}
  tr, figure {{ break-inside: avoid; }}
}}
"""
