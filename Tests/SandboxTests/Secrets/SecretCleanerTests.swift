import Foundation
import HTTPTypes
import JSONValues
import TestKit
import Testing

@testable import Sandbox

@Suite("Secrets of recordings")
struct SecretCleanerTests {
    private let cleaner = SecretCleaner(base: "https://api.example", secrets: Secrets())

    @Test("HARN-20 credentials in header fields get placeholders, the same secret the same one")
    func fields() {
        let field = { (value: String, name: String) in self.cleaner.value(value, ofField: name) }
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
        let link = "<https://api.example/x?accessToken=tok-5&page=2>; rel=\"next\""
        #expect(field(link, "link") == link.replacing("tok-5", with: "larder-secret-5"))
    }

    @Test("HARN-20 tokens of JSON and forms get placeholders, and JSON stays JSON")
    func bodies() throws {
        let json = cleaner.body(
            #"{"access_token":"abcdefgh1","expires_in":5,"token":null,"pin":1234,"list":[{"password":"p\"q"}],"code":"RU"}"#,
            .json
        )
        #expect(
            json
                == #"{"access_token":"larder-secret-1","expires_in":5,"token":null,"pin":"larder-secret-2","list":[{"password":"larder-secret-3"}],"code":"RU"}"#
        )
        _ = try JSONParser.parse(Array(json.utf8))
        let form = cleaner.body("grant_type=authorization_code&code=4711&client_secret=abcdefgh1&x=1", .form)
        #expect(form == "grant_type=authorization_code&code=larder-secret-4&client_secret=larder-secret-1&x=1")
        // A known credential is replaced anywhere.
        #expect(cleaner.body("hello abcdefgh1!", .text) == "hello larder-secret-1!")
        // A file that is downloaded keeps text that only looks like a credential.
        #expect(cleaner.body("password=abc", .text) == "password=abc")
    }

    @Test("HARN-20 signatures of links elsewhere get placeholders in queries and paths, also with escaped slashes")
    func links() {
        let mac = "c2lnbmF0dXJlLW9mLWEtbGluay0xMjM0NTY3ODkw"
        let link = "https://down.example/disk/\(mac)/photo.jpg?uid=1&sign=s3cr3t"
        let shown = "https://down.example/disk/larder-secret-1/photo.jpg?uid=1&sign=larder-secret-2"
        #expect(cleaner.target(link) == shown)
        let body = #"{"href":"\#(link)","own":"https://api.example/1\#(mac)?page=2"}"#
        #expect(cleaner.body(body, .json) == #"{"href":"\#(shown)","own":"https://api.example/1\#(mac)?page=2"}"#)
        let escaped = #"x = "\#(link.replacing("/", with: #"\/"#))""#
        #expect(cleaner.text(escaped) == #"x = "\#(shown.replacing("/", with: #"\/"#))""#)
        #expect(cleaner.target("https://user:pw@x.example/a") == "https://x.example/a")
        #expect(
            cleaner.target("https://x.example/cb#accessToken=abc&x=1").hasSuffix("#accessToken=larder-secret-3&x=1")
        )
        // A name of a file is no signature, nor is an identity in the API's own paths.
        let picture = "https://x.example/0f343b0931126a20f133d67c2b018a3b.jpg"
        #expect(cleaner.target(picture) == picture)
        #expect(cleaner.target("/items/1\(mac)") == "/items/1\(mac)")
        // A signature that was seen in a link is also replaced if the host of the link is the upstream.
        let other = SecretCleaner(base: "https://down.example", secrets: cleaner.secrets)
        #expect(other.target("/disk/\(mac)/photo.jpg") == "/disk/larder-secret-1/photo.jpg")
    }

    @Test("What is only compared gets no number, and a new recording numbers on behind those of the files")
    func numbers() {
        let compared = cleaner.comparing([:], "/")
        #expect(compared.value("Bearer x", ofField: "authorization") == "Bearer larder-secret-any")
        cleaner.secrets.skip(to: 7)
        #expect(cleaner.value("Bearer x", ofField: "authorization") == "Bearer larder-secret-8")
        #expect(compared.value("Bearer x", ofField: "authorization") == "Bearer larder-secret-8")
        // Credentials of the compared request itself are replaced wherever it has them.
        let echo = cleaner.comparing([.authorization: "Bearer tok-echoed"], "/")
        #expect(echo.body(#"{"for":"tok-echoed"}"#, .json) == #"{"for":"larder-secret-any"}"#)
    }

    @Test("What is no secret stays as it is spelled, in each syntax", arguments: untouched)
    func harmless(form: BodyForm, text: String) {
        cleaner.secrets.learn("known-secret-1")
        #expect(cleaner.body(text, form) == text)
    }

    private static let untouched: [(BodyForm, String)] = [
        (.json, #"{ "token_type":"Bearer", "n":1.50e3,"has_password":true, "token":null, "max_tokens":57 ,"a":[] }"#),
        (.json, #"{"name":"Öl \u00e9 \/ \"q\"","nextPageToken":"abc","text":"Reset password: click here"}"#),
        (.json, "[1, 2\n, {\"session\": {\"title\": \"Talk\"}}]"), (.json, #"{"a":"b=c&d","e":"<p>x</p>"}"#),
        (.json, #"{"cut":"off \u00"#), (.json, ""), (.json, "no json"), (.form, "a=1&b=%20&c&=&d=a+b"),
        (.markup, "<p class=a>1 < 2 &amp; <b>password: yes</b><br/></p><!-- x --><!DOCTYPE html>"),
        (.markup, #"<label for="password">Password</label><input type="password" name="password"><a href="/x?a=1">"#),
        (.markup, "<ns:a xmlns:ns=\"urn:x\"><![CDATA[1 > 2]]></ns:a><?xml version='1.0'?><"),
        (.assignments, "the code is here, the token was; password\n: x"), (.text, "token: abc, password=x"),
        (.multipart(boundary: "b"), "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n"),
    ]

    @Test("HARN-13 tokens in JSON, forms and other text are hidden in journals, whole or cut off", arguments: texts)
    func hashes(text: String, shown: String) {
        let journal = SecretCleaner(secrets: Secrets(areHashed: true, limit: 10))
        #expect(journal.body(text, .assignments) == shown.replacing("HASH", with: Self.hash))
    }

    // SHA-256("abc") of FIPS 180-2, appendix B.1, begins with ba7816bf8f01.
    private static let hash = "sha256:ba7816bf8f01"
    private static let texts = [
        (#"{"access_token":"abc","n":1}"#, #"{"access_token":"HASH","n":1}"#),
        (#"{"Refresh_Token" : "abc"#, #"{"Refresh_Token" : "HASH"#), ("code=abc&x=1", "code=HASH&x=1"),
        ("a=1&client_secret=abc", "a=1&client_secret=HASH"), (#"{"decode":"abc"}"#, #"{"decode":"abc"}"#),
        (#"{"code":""}"#, #"{"code":""}"#), ("the code abc", "the code abc"), ("token: abc, x", "token: HASH, x"),
        (#"{"password":null,"key":"abc"}"#, #"{"password":null,"key":"abc"}"#), ("", ""),
        (#"{"token":"a\"bc","x":1}"#, #"{"token":"\#(Secrets.hash(#"a"bc"#))","x":1}"#),
        (#"{"token":"abc"#, #"{"token":"HASH"#), ("x = {'accessToken': 'abc'}", "x = {'accessToken': 'HASH'}"),
        ("Authorization: Bearer abc\nX: 1", "Authorization: \(Secrets.hash("Bearer abc"))\nX: 1"),
        ("Cookie: a=b; c=d\nX: 1", "Cookie: \(Secrets.hash("a=b; c=d"))\nX: 1"), ("token = [abc", "token = [abc"),
    ]

    @Test("a secret is found however it is encoded, a word of ordinary texts is not looked for")
    func spellings() {
        let secret = "s3cr/t+&\"ö"
        cleaner.secrets.learn(secret)
        let data = Data("user:\(secret)".utf8).base64EncodedString()
        let encoded = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for text in [secret, encoded, encoded.lowercased(), data, #"s3cr\/t+&"ö"#, "s3cr/t+&amp;&quot;ö"] {
            let shown = cleaner.withoutKnown("a \(text) b")
            #expect(shown.contains("larder-secret-1") && !shown.contains("3cr"), "\(text): \(shown)")
        }
        _ = cleaner.body(#"{"password":"settings","pin":12345678}"#, .json)
        #expect(cleaner.body(#"{"settings":123456789}"#, .json) == #"{"settings":123456789}"#)
    }

    @Test("the oldest secrets of a journal are forgotten, not the latest")
    func limit() {
        let journal = SecretCleaner(secrets: Secrets(areHashed: true, limit: 4))
        for number in 0..<9 { journal.secrets.learn("secret-number-\(number)") }
        #expect(journal.withoutKnown("secret-number-8") == Secrets.hash("secret-number-8"))
        #expect(journal.withoutKnown("secret-number-0") == "secret-number-0")
    }
}

@Suite struct SecretNameTests {
    @Test(
        "HARN-33 a name is known however it is spelled",
        arguments: [
            "accessToken", "access_token", "Access-Token", "ACCESS_TOKEN", "accesstoken", "clientSecret", "privateKey",
            "X-API-Key", "apiKey", "jwt", "pwd", "bearer", "credential", "credentials", "refreshToken", "userPassword",
            "password2", "new_password", "passwordHash", "user[password]", "sessionId", "CSRFToken", "secretAccessKey",
            "db.password", "Authorization", "Set-Cookie", "otp", "pin", "wsse:Password", "auth",
        ]
    )
    func known(name: String) {
        #expect(SecretName.extent(of: name, in: .member) != .nothing)
    }

    @Test(
        "a name that only has the word of a secret is none",
        arguments: [
            "token_type", "tokenCount", "expires_in", "nextPageToken", "next_token", "password_changed_at", "author",
            "shopping", "desktop", "monkey", "key", "code", "signature", "secretary", "spin", "compass", "bypass",
            "credentialType", "cookie_policy", "hash", "value", "", "x", String(repeating: "token", count: 20),
        ]
    )
    func harmless(name: String) {
        #expect(SecretName.extent(of: name, in: .member) == .nothing)
    }

    @Test("a code is one of a login in forms, a key a secret in queries")
    func places() {
        #expect(SecretName.extent(of: "code", in: .form) != .nothing)
        #expect(
            SecretName.extent(of: "key", in: .query) != .nothing && SecretName.extent(of: "key", in: .form) == .nothing
        )
        #expect(SecretName.extent(of: "idempotency-key", in: .field) == .nothing)
        #expect(SecretName.extent(of: "x-csrf-token", in: .field) != .nothing)
    }
}
