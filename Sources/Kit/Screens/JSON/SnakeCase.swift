/// `homePortText` as `home_port_text`. Names begin with a small letter, as Swift's do.
enum SnakeCase {
    /// A word begins with an upper-case letter after anything else, and with the last of several before a lower-case
    /// one: `imageURLText` is `image_url_text`.
    static func text(_ name: String) -> String {
        let bytes = Array(name.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 4)
        for (index, byte) in bytes.enumerated() {
            guard isUpper(byte) else {
                text.append(byte)
                continue
            }
            let follows = index > 0 && !isUpper(bytes[index - 1])
            let precedes = index > 0 && index + 1 < bytes.count && isLower(bytes[index + 1])
            if follows || precedes { text.append(UInt8(ascii: "_")) }
            text.append(byte | 0x20)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
