import TestKit

/// Responses as bytes: right ones of every framing, and those that break each rule on its own. What ``WireCase``
/// mutates.
struct WireResponse {
    private var chance: SeededRandom
    /// Port of the server itself, for links that lead somewhere.
    private let port: Int

    init(chance: SeededRandom, port: Int) {
        self.chance = chance
        self.port = port
    }

    /// The bytes, and whether a client knows where they end while the connection stays open.
    mutating func bytes() -> (text: String, isSelfDelimited: Bool) {
        var text = ""
        while chance.once(in: 6) { text += interim() }
        if chance.once(in: 400) { for _ in 0...chance.number(60...70) { text += interim() } }
        let status = status()
        let reason = chance.once(in: 4) ? chance.text(of: Self.reasons) : " OK"
        let version = chance.once(in: 20) ? chance.text(of: Self.versions) : "HTTP/1.1"
        text += "\(version) \(status)\(reason)\r\n"
        for _ in 0..<chance.number(0...3) { text += chance.text(of: Self.fields) }
        if chance.once(in: 12) { text += chance.text(of: Self.oddFields) }
        if chance.once(in: 200) { text += String(repeating: "X-Many: 1\r\n", count: chance.number(200...300)) }
        if chance.once(in: 200) {
            text += "X-Large: \(String(repeating: "a", count: chance.number(60_000...90_000)))\r\n"
        }
        if status.hasPrefix("3") || chance.once(in: 20) { text += "Location: \(location())\r\n" }
        let (framed, isSelfDelimited) = framed()
        text += framed
        if chance.once(in: 12) { text += chance.text(of: Self.behind) }
        return (text, isSelfDelimited)
    }

    /// Any number of three digits, most often one that means something, sometimes none.
    private mutating func status() -> String {
        switch chance.number(0...19) {
        case 0...8:
            chance.text(of: ["200", "200", "200", "201", "204", "206", "304", "404", "412", "429", "500", "503"])
        case 9...11: chance.text(of: ["301", "302", "303", "307", "308", "300", "305"])
        case 12...13: chance.text(of: ["000", "001", "042", "099", "100", "101", "102", "103", "199"])
        case 14: chance.text(of: ["600", "700", "999"])
        case 15: chance.text(of: ["1000", "99", "9", "0200", "20", "2000000000000000000000", "-1", "+200", "2x0", ""])
        default: String(String(1000 + chance.number(0...999)).suffix(3))
        }
    }

    private mutating func interim() -> String {
        let line = chance.text(of: ["100 Continue", "102 Processing", "103 Early Hints", "199 ", "150 Any"])
        let rest = chance.text(of: Self.interimFields)
        return "HTTP/1.1 \(line)\r\n\(rest)\r\n"
    }

    private mutating func location() -> String {
        let own = "127.0.0.1:\(port)"
        return switch chance.number(0...5) {
        case 0: chance.text(of: ["/next", "next", "?a=1", "//\(own)/next", "http://\(own)/next", "#", "/a#b"])
        case 1:
            chance.text(of: [
                "http://u:p@\(own)/", "http://\(own):1/", "http://\(own)/%0d%0aX:%20y", "http://\(own)/a b",
            ])
        case 2: String(repeating: chance.text(of: ["/..", "/a", "a", "%"]), count: chance.number(1...5000))
        default: chance.text(of: Self.locations)
        }
    }

    /// Fields of framing, the empty line, the body.
    private mutating func framed() -> (String, isSelfDelimited: Bool) {
        let long = String(repeating: "0123456789", count: chance.number(0...4000))
        let body = chance.text(of: ["", "hello", "[{\"id\":1}]", "\u{1F}\u{8B}\u{8}\0\0", long])
        let length = body.utf8.count
        switch chance.number(0...19) {
        case 0...8: return ("Content-Length: \(length)\r\n\r\n\(body)", true)
        case 9...13: return ("Transfer-Encoding: chunked\r\n\r\n\(chunked(body))", true)
        case 14...15: return ("\r\n\(body)", false)
        case 16:
            let wrong = ["0", "\(length + 7)", "\(max(0, length - 3))"] + Self.lengths
            return ("Content-Length: \(chance.text(of: wrong))\r\n\r\n\(body)", false)
        case 17: return ("Content-Length: \(length)\r\n\(chance.text(of: Self.framings))\r\n\(chunked(body))", false)
        case 18: return ("\(chance.text(of: Self.framings))\r\n\(chunked(body))", false)
        default: return ("Transfer-Encoding: chunked\r\n\r\n\(chance.text(of: Self.brokenChunks))", false)
        }
    }

    private mutating func chunked(_ body: String) -> String {
        var rest = body.unicodeScalars[...]
        var text = ""
        while !rest.isEmpty {
            let part = String(rest.prefix(chance.number(1...rest.count)))
            text += "\(String(part.utf8.count, radix: 16))\(chance.text(of: ["", "", ";a=b", ";\"x\""]))\r\n\(part)\r\n"
            rest = rest.dropFirst(part.unicodeScalars.count)
        }
        return text + "0\r\n" + (chance.once(in: 3) ? chance.text(of: Self.trailers) : "") + "\r\n"
    }
}
