import HTTPSemantics
import NIOHTTP1

/// The fields that decide where a message ends and what becomes of the connection, gathered in one pass over a head.
struct FramingFields {
    private var hosts = 0
    private var contentLength: Substring?
    private var transferEncodings = 0
    private var saysClose = false
    private var saysKeepAlive = false
    private var saysUpgrade = false
    private(set) var expectsContinue = false

    /// Whether a body follows the head.
    var hasBody: Bool { transferEncodings > 0 || (contentLength ?? "0") != "0" }

    /// Takes one field line; a refusal if the line is bad by itself.
    mutating func note(name: String, value: String) -> ConnectionRefusal? {
        // The length sorts nearly all lines out before any comparison.
        switch name.utf8.count {
        case 4 where equals(name, "host"):
            hosts += 1
            return HostField.isValid(FieldList.trim(value)) ? nil : .malformed("The Host field is not a host.")
        case 6 where equals(name, "expect"):
            guard equals(FieldList.trim(value), "100-continue") else {
                return .malformed("The only expectation known here is 100-continue.")
            }
            expectsContinue = true
        case 7 where equals(name, "upgrade"):
            saysUpgrade = true
        case 10 where equals(name, "connection"):
            for option in FieldList.members(of: value) {
                if equals(option, "close") { saysClose = true }
                if equals(option, "keep-alive") { saysKeepAlive = true }
            }
        case 14 where equals(name, "content-length"):
            return noteContentLength(FieldList.trim(value))
        case 17 where equals(name, "transfer-encoding"):
            transferEncodings += 1
            return equals(value, "chunked") ? nil : .malformed("The only transfer coding accepted is chunked.")
        default:
            break
        }
        return nil
    }

    private mutating func noteContentLength(_ value: Substring) -> ConnectionRefusal? {
        // 18 digits always fit into a signed 64-bit number.
        guard (1...18).contains(value.utf8.count), value.isDigits else {
            return .malformed("Content-Length is not a number of bytes.")
        }
        guard contentLength == nil || contentLength == value else {
            return .malformed("Content-Length is given twice, differently.")
        }
        contentLength = value
        return nil
    }

    /// What is wrong with the fields taken together (RFC 9112 sections 3.2 and 6.1).
    func contradiction(version: HTTPVersion) -> ConnectionRefusal? {
        if hosts > 1 { return .malformed("The request has more than one Host field.") }
        if hosts == 0, version == .http1_1 { return .malformed("The request has no Host field.") }
        if transferEncodings > 1 { return .malformed("The request has more than one Transfer-Encoding field.") }
        if transferEncodings > 0, contentLength != nil {
            return .malformed("The request has both Transfer-Encoding and Content-Length.")
        }
        if transferEncodings > 0, version == .http1_0 { return .malformed("HTTP/1.0 has no Transfer-Encoding.") }
        return nil
    }

    /// RFC 9112 section 9.3. No protocol is upgraded to here, but the decoder stops reading after a request that asks
    /// for it, so such a connection ends too.
    func keepsAlive(version: HTTPVersion) -> Bool {
        !saysClose && !saysUpgrade && (version == .http1_1 || saysKeepAlive)
    }

    private func equals(_ text: some StringProtocol, _ lowercase: StaticString) -> Bool {
        guard text.utf8.count == lowercase.utf8CodeUnitCount else { return false }
        return lowercase.withUTF8Buffer { expected in
            zip(text.utf8, expected).allSatisfy { byte, wanted in
                byte == wanted || ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == wanted)
            }
        }
    }
}
