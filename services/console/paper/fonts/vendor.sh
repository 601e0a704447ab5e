#!/bin/sh
# Makes the fonts of PDFs anew: Noto Sans with Latin, Greek and Cyrillic letters and the signs of currencies, in two weights.
set -eu
cd "$(dirname "$0")"
python3 -m venv "${TMPDIR:-/tmp}/fonts"
"${TMPDIR:-/tmp}/fonts/bin/pip" -q install fontpkg-noto-sans==2.15 fonttools==4.68.0
"${TMPDIR:-/tmp}/fonts/bin/python" - <<'EOF'
from pathlib import Path

import fontpkg_noto_sans
from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

package = Path(fontpkg_noto_sans.__file__).parent
blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x370, 0x530), (0x1E00, 0x1F00), (0x2010, 0x2028), (0x2030, 0x2045), (0x20A0, 0x20C1), (0x2116, 0x2117), (0x2122, 0x2123), (0x2190, 0x2194), (0x2200, 0x2270)]
for name, weight in (("Regular", 400), ("Bold", 700)):
    font = instancer.instantiateVariableFont(TTFont(package / "files/NotoSans[wdth,wght].ttf"), {"wght": weight, "wdth": 100})
    options = subset.Options(layout_features=[], hinting=False, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14], notdef_outline=True)
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "STAT"]
    parts = subset.Subsetter(options)
    parts.populate(unicodes=[c for first, end in blocks for c in range(first, end)])
    parts.subset(font)
    font.save(f"NotoSans-{name}.ttf")
Path("LICENSE").write_bytes((package / "LICENSE").read_bytes())
EOF
