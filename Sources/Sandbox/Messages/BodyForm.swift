import CZlib
import HTTPTypes

/// The kind of a body, which decides where secrets are searched in it and how its file ends.
enum BodyForm: Sendable, Equatable {
    case json
    /// `name=value&…`.
    case form
    /// HTML or XML.
    case markup
    case multipart(boundary: String)
    /// A text in which names may precede values.
    case assignments
    /// A text without names, such as a file that a user downloads.
    case text
    case other

    /// Reads `Content-Type` and `Content-Disposition`.
    init(_ fields: HTTPFields) {
        let type = Self.type(fields)
        let isFile = fields[.contentDisposition]?.lowercased().hasPrefix("attachment") ?? false
        let isText = type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
        switch type {
        case _ where isFile: self = isText ? .text : .other
        case _ where type.hasSuffix("json"): self = .json
        case "application/x-www-form-urlencoded": self = .form
        case _ where type == "text/html" || type.hasSuffix("xml"): self = .markup
        // Old services send `oauth_token=…` or JSON with these types.
        case "", "text/plain", "text/event-stream", "application/yaml": self = .assignments
        case _ where type.hasPrefix("multipart/"):
            let boundary = fields[.contentType]?.firstMatch(of: /boundary="?([^";]+)/.ignoresCase())?.output.1
            self = boundary.map { .multipart(boundary: String($0)) } ?? .other
        case _ where type.hasPrefix("text/"), "application/javascript": self = .text
        default: self = .other
        }
    }

    /// Reads the form of a client's body, which is never a downloaded file.
    init(ofRequest fields: HTTPFields) {
        self = Self(fields)
        if self == .text || self == .other { self = .assignments }
    }

    private static func type(_ fields: HTTPFields) -> String {
        fields[.contentType]?.split(separator: ";").first?.lowercased().trimmed ?? ""
    }

    /// Returns the ending of a file with a body.
    static func ending(_ fields: HTTPFields) -> String {
        let known = [
            "application/json": "json", "application/pdf": "pdf", "application/zip": "zip", "image/jpeg": "jpg",
            "image/png": "png", "image/webp": "webp", "image/svg+xml": "svg", "text/html": "html", "text/plain": "txt",
            "audio/mpeg": "mp3", "video/mp4": "mp4",
        ]
        return known[type(fields)] ?? "bin"
    }
}

/// Undoes content codings (RFC 9110 section 8.4.1).
enum ContentCoding {
    private static let gzip: Set = ["gzip", "x-gzip", "deflate"]

    /// Returns a body without its content coding.
    ///
    /// - Parameters:
    ///   - limit: Most bytes of the result.
    ///   - isStart: Whether the body may be cut off, and the result as well.
    /// - Returns: nil if the coding is unknown, the body malformed or the result longer.
    static func decoded(_ body: [UInt8], _ fields: HTTPFields, atMost limit: Int, isStart: Bool = false) -> [UInt8]? {
        let codings = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.map {
            String($0).trimmed.lowercased()
        }.filter { $0 != "identity" && !$0.isEmpty }
        var bytes = body
        for coding in codings.reversed() {
            guard gzip.contains(coding), let decoded = inflated(bytes, atMost: limit, isStart: isStart) else {
                return nil
            }
            bytes = decoded
        }
        return bytes
    }

    private static func inflated(_ body: [UInt8], atMost limit: Int, isStart: Bool) -> [UInt8]? {
        var stream = z_stream()
        // 15 window bits, plus 32 for gzip or zlib, as the header says.
        guard inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var (input, output) = (body, [UInt8]())
        var part = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let (code, count) = part.withUnsafeMutableBufferPointer { part -> (Int32, Int) in
                    stream.next_out = part.baseAddress
                    stream.avail_out = UInt32(part.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, part.count - Int(stream.avail_out))
                }
                output += part.prefix(count)
                if output.count > limit { return isStart ? Array(output.prefix(limit)) : nil }
                switch code {
                case Z_OK: continue
                // gzip may have several members.
                case Z_STREAM_END where stream.avail_in > 0 && inflateReset(&stream) == Z_OK: continue
                case Z_STREAM_END: return output
                default: return isStart ? output : nil
                }
            }
        }
    }
}
