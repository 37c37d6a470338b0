# Removes copies of known test files, and Python's compiled forms of them, from a
# container. $1 lists their SHA-256 digests, and is removed too. Other files that are
# equal by chance, such as a vendored library, stay.
set -e
for program in find sha256sum grep; do
    command -v "$program" > /dev/null || { echo "the image has no $program"; exit 1; }
done
known="$(cat "$1")"
rm "$1"
find / \( -path /proc -o -path /sys -o -path /dev -o -path /opt/swe-ci \) -prune -o \
    -type f \( -path '*/tests/*' -o -path '*/test/*' -o -path '*/__tests__/*' \
    -o -name 'test_*' -o -name '*_test.*' -o -name '*.test.*' -o -name '*.spec.*' \
    -o -name conftest.py \) -exec sha256sum {} + 2> /dev/null |
    grep -F "$known" |
    while read -r _ path; do
        rm -f "$path"
        name="${path##*/}"
        rm -f "${path%/*}/__pycache__/${name%.py}."*.pyc
    done
