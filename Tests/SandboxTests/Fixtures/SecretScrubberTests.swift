import Testing

@testable import Sandbox

@Suite("Secrets of recordings")
struct SecretScrubberTests {
    private let scrubber = SecretScrubber(base: "https://api.example")

    @Test("HARN-20 credentials in header fields get placeholders, the same secret the same one")
    func fields() {
        let field = { (value: String, name: String) in self.scrubber.value(value, ofField: name, isWritten: true) }
        #expect(field("OAuth tok-1", "authorization") == "OAuth larder-secret-1")
        #expect(field("Bearer tok-1", "authorization") == "Bearer larder-secret-1")
        #expect(field("tok-2", "x-api-key") == "larder-secret-2")
        #expect(field("sid=tok-3; theme=dark", "cookie") == "sid=larder-secret-3; theme=larder-secret-4")
        #expect(field("sid=tok-3; Path=/; HttpOnly", "set-cookie") == "sid=larder-secret-3; Path=/; HttpOnly")
        #expect(
            field("https://cdn.example/x?token=tok-5&w=1", "location")
                == "https://cdn.example/x?token=larder-secret-5&w=1"
        )
        #expect(field("larder-secret-1", "x-auth-token") == "larder-secret-1")
        #expect(field("text/plain", "content-type") == "text/plain")
    }

    @Test("HARN-20 tokens of JSON and forms get placeholders, and JSON stays JSON")
    func bodies() throws {
        let json = scrubber.text(
            #"{"access_token":"abcdefgh1","expires_in":5,"token":null,"pin":1234,"list":[{"password":"p\"q"}],"code":"RU"}"#,
            .json,
            isData: true,
            isWritten: true
        )
        #expect(
            json
                == #"{"access_token":"larder-secret-1","expires_in":5,"token":null,"pin":"larder-secret-2","list":[{"password":"larder-secret-3"}],"code":"RU"}"#
        )
        _ = try JSONParser.parse(Array(json.utf8))
        let form = scrubber.text(
            "grant_type=authorization_code&code=4711&client_secret=abcdefgh1&x=1",
            .other,
            isData: true,
            isWritten: true
        )
        #expect(form == "grant_type=authorization_code&code=larder-secret-4&client_secret=larder-secret-1&x=1")
        // What is known as a credential is found anywhere.
        let echo = scrubber.text("hello abcdefgh1!", .other, isData: false, isWritten: true)
        #expect(echo == "hello larder-secret-1!")
        // A file that is downloaded keeps what only looks like one.
        #expect(scrubber.text("password=abc", .other, isData: false, isWritten: true) == "password=abc")
    }

    @Test("HARN-20 signatures of links elsewhere get placeholders in queries and paths, also with escaped slashes")
    func links() {
        let mac = "c2lnbmF0dXJlLW9mLWEtbGluay0xMjM0NTY3ODkw"
        let link = "https://down.example/disk/\(mac)/photo.jpg?uid=1&sign=s3cr3t"
        let shown = "https://down.example/disk/larder-secret-1/photo.jpg?uid=1&sign=larder-secret-2"
        #expect(scrubber.target(link, isWritten: true) == shown)
        let body = #"{"href":"\#(link)","own":"https://api.example/1\#(mac)?page=2"}"#
        #expect(
            scrubber.text(body, .json, isData: true, isWritten: true)
                == #"{"href":"\#(shown)","own":"https://api.example/1\#(mac)?page=2"}"#
        )
        let escaped = #"{"href":"\#(link.replacing("/", with: #"\/"#))"}"#
        #expect(
            scrubber.text(escaped, .json, isData: true, isWritten: true)
                == #"{"href":"\#(shown.replacing("/", with: #"\/"#))"}"#
        )
        #expect(scrubber.target("https://user:pw@x.example/a", isWritten: true) == "https://x.example/a")
        // A name of a file is no signature, nor is an identity in the API's own paths.
        let picture = "https://x.example/0f343b0931126a20f133d67c2b018a3b.jpg"
        #expect(scrubber.target(picture, isWritten: true) == picture)
        #expect(scrubber.target("/items/1\(mac)", isWritten: true) == "/items/1\(mac)")
        // What was a signature in a link is one where the host of the link is the upstream.
        let other = SecretScrubber(base: "https://down.example", secrets: scrubber.secrets)
        #expect(other.target("/disk/\(mac)/photo.jpg", isWritten: true) == "/disk/larder-secret-1/photo.jpg")
    }

    @Test("What is only compared gets no number, and a new recording numbers on behind those of the files")
    func numbers() {
        #expect(scrubber.value("Bearer x", ofField: "authorization", isWritten: false) == "Bearer larder-secret-any")
        scrubber.secrets.skip(to: 7)
        #expect(scrubber.value("Bearer x", ofField: "authorization", isWritten: true) == "Bearer larder-secret-8")
        #expect(scrubber.value("Bearer x", ofField: "authorization", isWritten: false) == "Bearer larder-secret-8")
    }
}
