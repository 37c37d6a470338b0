# LAYER FOLDER TOOL: runs measure.py with the image's Python, so that imports
# resolve as they do for the task. If that Python is too old or too new for the
# tool, the layer's Python runs it, with the image's packages visible. complexipy
# is compiled for the layer's Python.
#
# The image's packages may refer to the measured code: `-S` keeps Python from
# reading them until measure.py has set up its fence.
layer=$1 folder=$2 mode=$3
probe='
import os, site, sys

oldest = {"griffe": (3, 11), "complexipy": (9,)}.get(sys.argv[1], (3, 10))
if oldest <= sys.version_info[:2] <= (3, 14):
    print("fits")
else:
    site.addpackage = site.execsitecustomize = site.execusercustomize = lambda *_: None
    site.main()
    kinds = "site-packages", "dist-packages"
    print(os.pathsep.join(path for path in sys.path if os.path.basename(path) in kinds))
'
# The tests use `python`; Python 2 has no `-I`.
for python in python python3; do
    answer=$("$python" -I -S -c "$probe" "$mode" 2>/dev/null) && break
    answer=
done
set -- "$layer"/python/lib/python3*/*-packages
set -- --site "$1" "$mode" "$folder/request.json" "$folder/found.json"
if [ "$answer" = fits ]; then
    exec "$python" -I -S -B -X utf8 "$folder/measure.py" "$@"
fi
exec "$layer/python/bin/python3" -S -B "$folder/measure.py" --also "$answer" "$@"
