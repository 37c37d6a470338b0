# LAYER FOLDER radon|pylint: runs measure.py in the Python of the image, so that
# imports resolve as they do for the task; where that is too old, or newer than
# Pylint knows, in the Python of the layer, with the image's packages in sight.
#
# The image's packages may lead to the measured code: until measure.py has fenced
# that off, `-S` keeps Python from looking at them.
layer=$1 folder=$2 mode=$3
probe='
import os, site, sys

if (3, 10) <= sys.version_info[:2] <= (3, 14):
    print("fits")
else:
    site.addpackage = site.execsitecustomize = site.execusercustomize = lambda *_: None
    site.main()
    kinds = "site-packages", "dist-packages"
    print(os.pathsep.join(path for path in sys.path if os.path.basename(path) in kinds))
'
# Tests are run by `python`; Python 2 does not know `-I`.
for python in python python3; do
    said=$("$python" -I -S -c "$probe" 2>/dev/null) && break
    said=
done
set -- "$layer"/python/lib/python3*/*-packages
set -- --site "$1" "$mode" "$folder/request.json" "$folder/found.json"
if [ "$said" = fits ]; then
    exec "$python" -I -S -B -X utf8 "$folder/measure.py" "$@"
fi
exec "$layer/python/bin/python3" -S -B "$folder/measure.py" --also "$said" "$@"
