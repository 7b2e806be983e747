"""A picture, and a form with it, without a library."""
import struct
import zlib


def png(width: int = 16, height: int = 16, shade: int = 128) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([shade]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def form(picture: bytes) -> dict:
    """Body and header fields of an upload to the PDF app."""
    boundary = "a-boundary"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n'
    body = f"{head}Content-Type: image/png\r\n\r\n".encode() + picture + f"\r\n--{boundary}--\r\n".encode()
    return {"body": body, "headers": {"Content-Type": f"multipart/form-data; boundary={boundary}"}}
