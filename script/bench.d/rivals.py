"""nginx and Varnish that serve Larder's bytes from their caches, for an hour after they fetched them once."""
import shutil

from processes import Server, free_port, wait_for


class Nginx(Server):
    name = "nginx"

    def __init__(self, folder, origin, token, secure=""):
        """`secure` has the directives of a certificate; without them it speaks clear text."""
        port = free_port()
        self.base = f"{'https' if secure else 'http'}://127.0.0.1:{port}"
        with open(f"{folder}/nginx.conf", "w") as f:
            f.write(f"""
            worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 8192; }}
            http {{
                access_log off; keepalive_requests 100000000; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                proxy_cache_path {folder}/cache keys_zone=hot:10m;
                server {{
                    listen 127.0.0.1:{port} {"ssl http2" if secure else ""} backlog=1024; {secure}
                    location / {{
                        proxy_pass {origin}; proxy_set_header Authorization "{token}"; proxy_set_header Host localhost;
                        proxy_set_header Accept-Encoding $http_accept_encoding;
                        proxy_cache hot; proxy_cache_key "$uri$http_accept_encoding"; proxy_cache_valid 200 1h;
                        proxy_ignore_headers Cache-Control Expires Vary;
                    }}
                }}
            }}""")
        super().__init__(["nginx", "-c", f"{folder}/nginx.conf", "-p", folder])
        wait_for(self.base + "/v1/ships")


class Varnish(Server):
    name = "varnish"

    def __init__(self, folder, origin, token):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        with open(f"{folder}/bench.vcl", "w") as f:
            f.write(f"""
            vcl 4.1;
            backend larder {{ .host = "127.0.0.1"; .port = "{origin.rsplit(":", 1)[1]}"; }}
            sub vcl_recv {{ return (hash); }}
            sub vcl_hash {{ hash_data(req.http.Accept-Encoding); }}
            sub vcl_backend_fetch {{ set bereq.http.Authorization = "{token}"; set bereq.http.Host = "localhost"; }}
            sub vcl_backend_response {{ set beresp.ttl = 1h; unset beresp.http.Vary; return (deliver); }}
            """)
        # Both encodings are Larder's own bytes: Varnish is not to unpack one for who wants the other.
        super().__init__(["varnishd", "-F", "-j", "none", "-n", f"{folder}/varnish", "-a", f"127.0.0.1:{port}", "-f", f"{folder}/bench.vcl",
                          "-s", "malloc,64m", "-p", "http_gzip_support=off"])
        wait_for(self.base + "/v1/ships")


def available():
    """The rivals that are installed; nginx is required."""
    return [Nginx] + ([Varnish] if shutil.which("varnishd") else [])
