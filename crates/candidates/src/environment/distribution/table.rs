//! Modules whose distribution has a different name, or several, of which the
//! likelier for tests comes first. Sorted.

use std::sync::LazyLock;

use crate::text::{self, Table};

/// A line lists the distributions, and after the colon their modules.
const NAMES: &str = "
    pycryptodome: Crypto
    pycryptodomex: Cryptodome
    ipython: IPython
    Levenshtein python-Levenshtein: Levenshtein
    mysqlclient: MySQLdb
    PyOpenGL: OpenGL
    pyOpenSSL: OpenSSL
    Pillow: PIL
    pyinstaller: PyInstaller
    python-xlib: Xlib
    absl-py: absl
    apache-airflow: airflow
    antlr4-python3-runtime: antlr4
    attrs: attr
    azure-core: azure.core
    azure-identity: azure.identity
    azure-storage-blob: azure.storage.blob
    python-barcode: barcode
    beautifulsoup4: bs4
    pymongo: bson
    docker-compose: compose
    django-cors-headers: corsheaders
    py-cpuinfo: cpuinfo
    python-crontab: crontab
    opencv-python-headless: cv2
    python-daemon: daemon
    python-dateutil: dateutil
    dbus-python: dbus
    django-debug-toolbar: debug_toolbar
    python-decouple: decouple
    discord.py: discord
    Django: django
    django-filter: django_filters
    dnspython: dns
    python-docx: docx
    python-dotenv: dotenv
    python-editor: editor
    pyelftools: elftools
    python-engineio: engineio
    django-environ: environ
    Faker: faker
    PyMuPDF: fitz
    Flask: flask
    Flask-Cors: flask_cors
    Flask-Login: flask_login
    Flask-Migrate: flask_migrate
    Flask-RESTful: flask_restful
    Flask-SQLAlchemy: flask_sqlalchemy
    Flask-Testing: flask_testing
    Flask-WTF: flask_wtf
    Genshi: genshi
    python-gflags: gflags
    PyGObject: gi
    GitPython: git
    PyGithub: github
    python-gitlab: gitlab
    python-gnupg: gnupg
    google-api-core: google.api_core
    google-auth: google.auth google.oauth2
    google-cloud-bigquery: google.cloud.bigquery
    google-cloud-storage: google.cloud.storage
    protobuf: google.protobuf
    googleapis-common-protos: google.rpc
    google-api-python-client: googleapiclient
    graphql-core: graphql
    grpcio: grpc
    grpcio-health-checking: grpc_health
    grpcio-status: grpc_status
    grpcio-tools: grpc_tools
    PyHamcrest: hamcrest
    django-haystack: haystack
    python-hglib: hglib
    imbalanced-learn: imblearn
    python-jenkins: jenkins
    Jinja2: jinja2
    python-jose: jose
    PyJWT: jwt
    kafka-python: kafka
    python-ldap: ldap
    python-magic: magic
    Mako: mako
    Markdown: markdown
    markdown-it-py: markdown_it
    MarkupSafe: markupsafe
    python-memcached: memcache
    python-mpd2: mpd
    matplotlib: mpl_toolkits pylab
    python-multipart multipart: multipart
    boto3-stubs: mypy_boto3
    mysql-connector-python: mysql.connector
    PyNaCl: nacl
    python-nmap: nmap
    python-novaclient: novaclient
    odfpy: odf
    opentelemetry-api: opentelemetry
    opentelemetry-sdk: opentelemetry.sdk
    GDAL: osgeo
    paho-mqtt: paho
    future: past
    pep8-naming: pep8ext_naming
    setuptools: pkg_resources
    peewee: playhouse pwiz
    python-pptx: pptx
    psycopg2-binary: psycopg2
    PyMySQL: pymysql
    nvidia-ml-py pynvml: pynvml
    Pyrogram: pyrogram
    ratelimit django-ratelimit: ratelimit
    djangorestframework: rest_framework
    djangorestframework-simplejwt: rest_framework_simplejwt
    libsass: sass
    Scrapy: scrapy
    pyserial: serial
    pyshp: shapefile
    scikit-image: skimage
    scikit-learn: sklearn
    scikit-optimize: skopt
    slackclient: slack
    python-slugify: slugify
    pyscard: smartcard
    python-snappy: snappy
    python-socketio: socketio
    PySocks: socks sockshandler
    SpeechRecognition: speech_recognition
    Sphinx: sphinx
    SQLAlchemy: sqlalchemy
    SQLAlchemy-Utils: sqlalchemy_utils
    python-stdnum: stdnum
    python-telegram-bot: telegram
    toolz: tlz
    Twisted: twisted
    umap-learn: umap
    pyusb: usb
    python-vlc: vlc
    WebOb: webob
    websocket-client: websocket
    WebTest: webtest
    Werkzeug: werkzeug
    Whoosh: whoosh
    WTForms: wtforms
    wxPython: wx
    pyxdg xdg: xdg
    pytest-xdist: xdist
    PyYAML: yaml
    yapf: yapf_third_party
    pyzmq: zmq
";

/// Distributions with the name of their module, and `-` for `_`.
const OWN_NAMES: &str = "
    Cython PyPDF2 PyQt5 asgi-lifespan async-timeout attrs bitarray certifi
    charset-normalizer click-default-group clickhouse-driver colorlog constantly
    django-extensions falcon freezegun fs graphql-relay html5lib igraph importlib-metadata
    importlib-resources josepy kazoo lsprotocol lz4 mdit-py-plugins msgpack nbformat neo4j
    oauth2client path peewee postgres prometheus-client prompt-toolkit pvlib pyasn1-modules
    pydantic-settings pytest-asyncio pytest-httpserver pytest-mock qrcode redis
    requests-mock requests-oauthlib requests-toolbelt rrdtool ruamel.yaml setuptools
    sphinx-rtd-theme sql-metadata tables typing-extensions tzlocal uvloop webassets
    zope.interface
";

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let own_names = OWN_NAMES.split_whitespace();
    let own_names = own_names.map(|name| (name.replace('-', "_"), vec![name]));
    text::table(NAMES).into_iter().chain(own_names).collect()
});

/// Modules of Python itself: of Python 2, of other versions, of other systems.
/// Distributions with these names are something else.
const STANDARD_LIBRARY: &str = "\
    ConfigParser HTMLParser Queue StringIO Tkinter __builtin__ asynchat asyncore \
    cPickle cStringIO cgi cgitb crypt distutils formatter httplib imp lib2to3 msilib \
    msvcrt nntplib parser pipes pythoncom pywintypes smtpd spwd symbol telnetlib \
    termios test tkinter tomllib urllib2 urlparse win32api winreg xdrlib";

/// Whether a module (with dots) belongs to Python itself, even if this Python
/// lacks it.
pub fn is_standard_library(module: &str) -> bool {
    let top = module.split('.').next().unwrap_or(module);
    STANDARD_LIBRARY.split(' ').any(|name| name == top)
}

/// The known distributions of a module (with dots).
pub fn known_distributions(module: &str) -> &'static [&'static str] {
    let found = TABLE.iter().find(|(name, _)| name == module);
    found.map_or(&[], |(_, distributions)| distributions.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once() {
        for (at, (name, _)) in TABLE.iter().enumerate() {
            assert!(
                !TABLE[..at].iter().any(|(other, _)| other == name),
                "{name} twice"
            );
        }
        assert_eq!(known_distributions("yaml"), ["PyYAML"]);
        assert_eq!(known_distributions("google.protobuf"), ["protobuf"]);
        assert!(known_distributions("unheard").is_empty());
    }
}
