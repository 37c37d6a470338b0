//! The tables of Debian packages. Names of distributions are in the normal form
//! of PEP 503. A line lists the packages, and after the colon what needs them.

/// Distributions that cannot be installed or imported without these packages.
/// Distributions with self-contained wheels for Linux (lxml, Pillow,
/// cryptography, …) get theirs only after a failed build:
/// [`super::for_building`].
pub(super) const TO_RUN: &str = "
    git: gitpython git-python pygit2 dulwich pre-commit
    libmagic1: python-magic
    libgl1 libglib2.0-0: opencv-python
    libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0: weasyprint
    libcairo2: cairosvg cairocffi
    graphviz: graphviz pydot
    graphviz libgraphviz-dev gcc python3-dev: pygraphviz
    ffmpeg: pydub ffmpeg-python
    libsndfile1: soundfile
    libzbar0: pyzbar
    tesseract-ocr: pytesseract
    poppler-utils: pdf2image
    libusb-1.0-0: pyusb
    libenchant-2-2: pyenchant
    mercurial: python-hglib
    postgresql: pytest-postgresql
    redis-server: pytest-redis
    libpq5: psycopg
    libpq-dev gcc python3-dev: psycopg2
    default-libmysqlclient-dev gcc pkg-config python3-dev: mysqlclient
    libcairo2-dev gcc pkg-config python3-dev: pycairo
    libgirepository1.0-dev gcc pkg-config python3-dev: pygobject
    libgdal-dev g++ python3-dev: gdal
    libldap2-dev libsasl2-dev gcc python3-dev: python-ldap
    libsqlcipher-dev gcc python3-dev: pysqlcipher3
    portaudio19-dev gcc python3-dev: pyaudio
    libcups2-dev gcc python3-dev: pycups
    libdbus-1-dev libglib2.0-dev gcc pkg-config python3-dev: dbus-python
    libsystemd-dev gcc pkg-config python3-dev: systemd-python
    libxmlsec1-dev libxml2-dev gcc pkg-config python3-dev: xmlsec
    libcurl4-openssl-dev libssl-dev gcc python3-dev: pycurl
    libkrb5-dev gcc python3-dev: gssapi kerberos
    gcc python3-dev: uwsgi
";

/// Distributions that need these packages if there is no wheel.
pub(super) const TO_BUILD: &str = "
    libxml2-dev libxslt1-dev: lxml
    libjpeg-dev zlib1g-dev libfreetype-dev: pillow
    libssl-dev libffi-dev pkg-config cargo: cryptography
    libffi-dev cargo: bcrypt
    libffi-dev: cffi
    libffi-dev libsodium-dev: pynacl
    libyaml-dev: pyyaml
    libhdf5-dev pkg-config: h5py
    libnetcdf-dev libhdf5-dev: netcdf4
    libgeos-dev: shapely
    libproj-dev proj-bin: pyproj
    libgdal-dev g++: fiona rasterio
    libgmp-dev libmpfr-dev libmpc-dev: gmpy2
    libsnappy-dev g++: python-snappy
    libzmq3-dev g++: pyzmq
    gfortran libopenblas-dev pkg-config g++: scipy
    libopenblas-dev g++: numpy
    g++: pandas grpcio
    librdkafka-dev: confluent-kafka
    freetds-dev: pymssql
    unixodbc-dev g++: pyodbc
    libhdf5-dev libbz2-dev g++: tables
    libavformat-dev libavdevice-dev libavfilter-dev pkg-config: av
    g++ swig make: pymupdf
";

/// Every compiled distribution needs these packages.
pub(super) const TOOLS: [&str; 2] = ["gcc", "python3-dev"];

/// Shared libraries, by the prefix of their file names.
pub(super) const LIBRARIES: &str = "
    libgl1: libGL.so
    libegl1: libEGL.so
    libopengl0: libOpenGL.so
    libglib2.0-0: libgthread-2.0.so libglib-2.0.so libgobject-2.0
    libsm6: libSM.so
    libice6: libICE.so
    libxext6: libXext.so
    libxrender1: libXrender.so
    libx11-6: libX11.so
    libxcb1: libxcb
    libxkbcommon0: libxkbcommon
    libdbus-1-3: libdbus-1.so
    libfontconfig1: libfontconfig.so
    libfreetype6: libfreetype.so
    libxml2: libxml2.so
    libxslt1.1: libxslt.so
    libpq5: libpq.so
    default-libmysqlclient-dev: libmysqlclient.so
    libmariadb3: libmariadb.so
    libmagic1: libmagic.so
    libcairo2: libcairo.so
    libpango-1.0-0: libpango-1.0
    libpangoft2-1.0-0: libpangoft2-1.0
    libharfbuzz-subset0: libharfbuzz
    libgdk-pixbuf-2.0-0: libgdk_pixbuf-2.0
    libsndfile1: libsndfile.so
    libportaudio2: libportaudio.so
    libgomp1: libgomp.so
    libusb-1.0-0: libusb-1.0
    libzbar0: libzbar.so
    libenchant-2-2: libenchant
    libsodium23: libsodium.so
    libgdal32: libgdal.so
    libgeos-c1v5: libgeos_c.so
    libspatialindex6: libspatialindex
    tk: libtk8
    libxmlsec1-openssl: libxmlsec1
    unixodbc: libodbc.so
    libnss3: libnss3.so
    libatk1.0-0: libatk-1.0
    libsqlite3-0: libsqlite3.so
    libopenblas0: libopenblas
    libsnappy1v5: libsnappy.so
    libleveldb1d: libleveldb.so
    libgit2-1.5: libgit2.so
";

/// Headers, by the prefix of their paths.
pub(super) const HEADERS: &str = "
    python3-dev: Python.h
    libxml2-dev libxslt1-dev: libxml/
    libxslt1-dev: libxslt/
    libxmlsec1-dev: xmlsec/
    libffi-dev: ffi.h
    libssl-dev: openssl/
    libpq-dev: libpq-fe.h
    default-libmysqlclient-dev: mysql
    libjpeg-dev: jpeglib.h
    zlib1g-dev: zlib.h
    libbz2-dev: bzlib.h
    liblzma-dev: lzma.h
    libldap2-dev: lber.h ldap.h
    libsasl2-dev: sasl
    libcairo2-dev: cairo
    libgmp-dev: gmp.h
    libmpfr-dev: mpfr.h
    libmpc-dev: mpc.h
    libsnappy-dev: snappy
    libyaml-dev: yaml.h
    libsqlite3-dev: sqlite3.h
    libfreetype-dev: ft2build.h
    libpcap-dev: pcap
    portaudio19-dev: portaudio.h
    libhdf5-dev: hdf5.h
    libgeos-dev: geos_c.h
    libproj-dev: proj.h
    libgdal-dev: gdal.h
    libcurl4-openssl-dev: curl/
    libkrb5-dev: gssapi krb5
    libdbus-1-dev: dbus/
    libgraphviz-dev: graphviz/
    libmagic-dev: magic.h
    libncurses-dev: ncurses curses.h
    libreadline-dev: readline/
    libsodium-dev: sodium.h
    uuid-dev: uuid/
    libzmq3-dev: zmq.h
    unixodbc-dev: sql.h
    librdkafka-dev: librdkafka/
    libsystemd-dev: systemd/
    libx11-dev: X11/
    libboost-dev: boost/
    libeigen3-dev: Eigen/
    libleveldb-dev: leveldb/
    libusb-1.0-0-dev: usb.h
    libcrypt-dev: crypt.h
    libc6-dev: stdio.h stdlib.h
";

/// Commands, and libraries by their pkg-config names.
pub(super) const COMMANDS: &str = "
    git: git
    mercurial: hg
    subversion: svn
    gcc python3-dev: gcc cc x86_64-linux-gnu-gcc aarch64-linux-gnu-gcc
    g++ python3-dev: g++ c++
    make: make
    cmake: cmake
    ninja-build: ninja
    pkg-config: pkg-config
    libpq-dev gcc python3-dev: pg_config
    default-libmysqlclient-dev gcc python3-dev: mysql_config
    libmariadb-dev gcc python3-dev: mariadb_config
    libxml2-dev gcc: xml2-config
    libxslt1-dev gcc: xslt-config
    libgdal-dev g++ python3-dev: gdal-config
    libgeos-dev: geos-config
    libcurl4-openssl-dev libssl-dev gcc: curl-config
    libkrb5-dev gcc python3-dev: krb5-config
    libcairo2-dev pkg-config gcc: cairo
    libffi-dev: libffi
    cargo: cargo
    rustc cargo: rustc
    gfortran: gfortran
    swig: swig
    nodejs: node
    ffmpeg: ffmpeg
    graphviz: dot
    curl: curl
    wget: wget
    unzip: unzip
    zip: zip
    xz-utils: xz
    bzip2: bzip2
    file: file
    patch: patch
    procps: ps
    less: less
    man-db: man
    openssh-client: ssh ssh-keygen
    gnupg: gpg
    openssl: openssl
    redis-server: redis-server
    postgresql: pg_ctl
    sqlite3: sqlite3
    tesseract-ocr: tesseract
    poppler-utils: pdftotext
    pandoc: pandoc
    xvfb: xvfb-run
    tmux: tmux
    zsh: zsh
    fish: fish
    sudo: sudo
    lsof: lsof
    iputils-ping: ping
    iproute2: ip
    locales: locale-gen
    gettext: msgfmt xgettext
";
