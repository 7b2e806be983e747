"""How much memory a large body takes on its way through a mount, down and up."""
import subprocess

from larder import Larder
from processes import CLIENT_CORE, Server, free_port, wait_for


class Origin(Server):
    """nginx that has a large file, and takes one."""

    def __init__(self, folder, megabytes):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        with open(f"{folder}/large", "wb") as f:
            f.truncate(megabytes << 20)
        with open(f"{folder}/origin.conf", "w") as f:
            f.write(f"""
            worker_processes 1; daemon off; pid {folder}/origin.pid; error_log {folder}/origin.log;
            events {{ }}
            http {{
                access_log off; client_max_body_size 0; client_body_temp_path {folder}/ob; proxy_temp_path {folder}/op;
                fastcgi_temp_path {folder}/of; uwsgi_temp_path {folder}/ou; scgi_temp_path {folder}/os;
                server {{
                    listen 127.0.0.1:{port};
                    location / {{ root {folder}; add_header Cache-Control no-store; }}
                    location /sink {{ return 200 ""; }}
                }}
            }}""")
        super().__init__(["nginx", "-c", f"{folder}/origin.conf", "-p", folder], CLIENT_CORE)
        wait_for(self.base + "/sink")


def streaming(executable, folder, sandbox, megabytes=1024):
    origin = Origin(folder, megabytes)
    print()
    for way, arguments in (("down", ["/large"]), ("up", ["/sink", "-T", f"{folder}/large", "-H", "Expect:"])):
        larder = Larder(executable, f"{folder}/streaming-{way}", sandbox, "--upstreams-big-url", origin.base, "--upstreams-big-methods", "GET,PUT",
                        "--upstreams-big-total-timeout-ms", "120000")
        idle = larder.resident_mb()
        command = ["curl", "-sf", "-o", f"{folder}/taken" if way == "up" else "/dev/null", "-w", "%{time_total}", f"{larder.base}/v1/upstreams/big{arguments[0]}"]
        seconds = float(subprocess.run(command + arguments[1:], capture_output=True, text=True, check=True).stdout)
        print(f"{megabytes} MB {way}: {larder.resident_mb(peak=True):.0f} MB resident at the peak, {idle:.0f} MB before; {megabytes / seconds:.0f} MB/s")
        larder.stop()
    origin.stop()
