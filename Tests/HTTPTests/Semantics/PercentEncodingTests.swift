import HTTP
import Testing

@Suite("Percent-encoding (RFC 3986 §2.1)")
struct PercentEncodingTests {
    @Test("Each set leaves its own characters, and no byte beyond ASCII")
    func sets() {
        let text = "aZ09-._~ ,:/%?#[]@!$&'()*+;=\"<>\\^`{|}é\u{1}"
        #expect(
            PercentEncoding.encode(text, allowed: .unreserved)
                == "aZ09-._~%20%2C%3A%2F%25%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%3B%3D"
                + "%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .legibleQuery)
                == "aZ09-._~%20,:/%25%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%3B%3D%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .encodedPath)
                == "aZ09-._~%20,:/%%3F%23%5B%5D@!$&'()*+;=%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .uri)
                == "aZ09-._~%20,:/%?#[]@!$&'()*+;=%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .attributeCharacters)
                == "aZ09-._~%20%2C%3A%2F%25%3F#%5B%5D%40!$&%27%28%29%2A+%3B%3D%22%3C%3E%5C^`%7B|%7D%C3%A9%01"
        )
        #expect(PercentEncoding.encode("a-b", allowed: .alphanumerics) == "a%2Db")
    }

    @Test("What is encoded is decoded again, for every byte of UTF-8")
    func roundTrip() {
        let text = String(String.UnicodeScalarView((0...0x7FF).compactMap(Unicode.Scalar.init) + ["\u{1F600}"]))
        let encoded = PercentEncoding.encode(text, allowed: .unreserved)
        #expect(PercentEncoding.decode(encoded) == Array(text.utf8))
    }

    @Test("A percent sign without two hexadecimal digits is an error", arguments: ["%", "a%2", "%G0", "%+1", "%0G"])
    func malformed(text: String) {
        #expect(PercentEncoding.decode(text) == nil)
    }
}
