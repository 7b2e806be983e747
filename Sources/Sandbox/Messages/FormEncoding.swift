/// Writes `name=value&…` as the service writes the queries of its links: a space is `+`, everything but unreserved
/// characters is percent-encoded.
enum FormEncoding {
    static func query(_ items: KeyValuePairs<String, String>) -> String {
        items.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    }

    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default: bytes += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
