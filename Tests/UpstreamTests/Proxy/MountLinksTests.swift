import Concurrency
import Foundation
import GRDB
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Upstream

@Suite("Mounts: links that lead back", .timeLimit(.minutes(5)))
struct MountLinksTests {
    private static let mount = "http://larder.test/v1/upstreams/ships"
    private static let options = MountOptions(shared: false, methods: [.get, .head, .put], leadsBack: true)
    private static let token: HTTPFields = [.authorization: "OAuth one"]

    private static func file(_ signature: Int) -> String { "pictures.test/disk/secret\(signature)?fsize=7&etag=m" }

    /// An API whose links are signed anew each time.
    private static func scenario() throws -> MountScenario {
        let (it, signature) = (try MountScenario(options), Watched(0))
        it.scene.transport.always { request in
            guard request.url.hasPrefix("https://api.test/") else {
                return IncomingResponse(status: .ok, headerFields: [.eTag: "\"m\""], body: Array("content".utf8))
            }
            signature.update { $0 += 1 }
            return .json(#"{"href":"https://\#(file(signature.value))"}"#)
        }
        return it
    }

    /// All that is stored of responses, as text.
    private static func stored(_ it: MountScenario) async throws -> String {
        try await it.scene.database.pool.read { db in
            try ["stored_response", "stored_body"].flatMap { try Row.fetchAll(db, sql: "SELECT * FROM \($0)") }
                .flatMap { $0.databaseValues.compactMap { Data.fromDatabaseValue($0) } }
                .map { String(decoding: $0, as: UTF8.self) }.joined()
        }
    }

    @Test(
        "DISK-48 links into the API and to its other hosts lead back to the mount, and all else stays byte for byte",
        arguments: [
            ("https://api.test/files/1?a=b%20c", "/files/1?a=b%20c"), ("https://api.test/", "/"),
            (#"https:\/\/api.test\/files"#, "/files"), ("https://API.test:443/files", "/files"),
            ("https://pictures.test/1?etag=a&b", "/~pictures.test/1?etag=a&b"),
            ("https://pictures.test:443/1", "/~pictures.test:443/1"), ("http://pictures.test/1", nil),
            ("https://evil.test/1", nil), ("https://u:p@pictures.test/1", nil), ("https://", nil), ("httpd", nil),
        ] as [(String, String?)]
    )
    func rewritten(link: String, target: String?) throws {
        let links = try #require(try MountScenario(Self.options).mount.links)
        let own = #""custom_properties" : {"a":"https://api.test/}","b":{}}, "https://api.test/":1"#
        func json(_ link: String) -> String {
            #"{ "href" : "\#(link)","n":1.50,"t":"a \"https://api.test/\" \\" , \#(own) , "x":[null,"\#(link)"]}"#
        }
        let seen = links.rewritten(Array(json(link).utf8), to: Self.mount)
        #expect(String(decoding: seen, as: UTF8.self) == json(target.map { Self.mount + $0 } ?? link))
        let text = Array(json(link).utf8)
        for length in text.indices { #expect(links.rewritten(Array(text[..<length]), to: "m").count >= 0) }
    }

    @Test("DISK-48 SRV-11 what was read stays readable offline, by any link to the same version; no link is stored")
    func offline() async throws {
        let it = try Self.scenario()
        let first = try await it.ask(.get, "/file", Self.token)
        #expect(first.body == #"{"href":"\#(Self.mount)/~\#(Self.file(1))"}"#)
        #expect(first.fields[.contentLength] == String(first.body.utf8.count))
        #expect(try await it.ask(.get, "/~\(Self.file(1))", Self.token).body == "content")
        let sent = try #require(it.scene.transport.requests.last)
        #expect(sent.url == "https://\(Self.file(1))" && sent.headerFields[.authorization] == nil)
        #expect(try await it.ask(.get, "/file", Self.token + [.range: "bytes=0-3"]).status == 200)
        it.scene.transport.goAway()
        let offline = try await it.ask(.get, "/file", Self.token)
        #expect(offline.isOffline && offline.body == #"{"href":"\#(Self.mount)/~\#(Self.file(2))"}"#)
        let content = try await it.ask(.get, "/~\(Self.file(2))", Self.token)
        #expect(content.isOffline && content.body == "content")
        let head = try await it.ask(.head, "/file", Self.token)
        #expect(head.status == 200 && head.fields[.contentLength] == nil)
        await #expect(throws: UpstreamError.self, "another service") {
            try await it.ask(.get, "/~\(Self.file(1).replacing("/disk/", with: "/preview/"))", Self.token)
        }
        for others in [[:], [.authorization: "OAuth two"]] as [HTTPFields] {
            await #expect(throws: UpstreamError.self) { try await it.ask(.get, "/~\(Self.file(1))", others) }
        }
        let stored = try await Self.stored(it)
        #expect(stored.contains("content") && !stored.contains("secret"))
    }

    @Test("DISK-48 bytes are sent through a link, without a token; a host to which no link leads is not reached")
    func targets() async throws {
        let it = try Self.scenario()
        _ = try await it.ask(.put, "/~pictures.test/up/1", Self.token, body: "new")
        let sent = try #require(it.scene.transport.requests.last)
        #expect(sent.method == .put && sent.url == "https://pictures.test/up/1" && sent.body == Array("new".utf8))
        #expect(sent.headerFields[.authorization] == nil)
        for target in [
            "/~evil.test/1", "/~api.test/file", "/~", "/~127.0.0.1:80/", "/~u@pictures.test/1", "/~pictures.test:22/1",
        ] {
            await #expect(throws: UpstreamError.self) { try await it.ask(.get, target, Self.token) }
        }
        #expect(it.scene.transport.count == 1)
    }

    @Test(
        "DISK-48 Location and Content-Location lead back, relative ones seen from the URL that was requested",
        arguments: [
            ("/a/b", "https://api.test/c", "/c"), ("/a/b", "/c?x=1", "/c?x=1"), ("/a/b", "../c", "/c"),
            ("/a/b", "c", "/a/c"), ("/a/b", "//pictures.test/c", "/~pictures.test/c"),
            ("/~pictures.test/a", "/c?x", "/~pictures.test/c?x"), ("/a/b", "https://evil.test/c#d", nil),
        ] as [(String, String, String?)]
    )
    func references(target: String, reference: String, led: String?) async throws {
        let it = try MountScenario(Self.options)
        it.scene.transport.then(response(.created, fields: [.location: reference, .contentLocation: reference]))
        let seen = try await it.ask(.put, target, Self.token, body: "new")
        let address = led.map { Self.mount + $0 } ?? reference
        #expect(seen.fields[.location] == address && seen.fields[.contentLocation] == address)
    }

    @Test("DISK-48 SRV-11 nothing is stored of requests without a token, nor by a cookie, which stays here")
    func nobody() async throws {
        let it = try Self.scenario()
        for fields in [[:], [.cookie: "a=b"]] as [HTTPFields] {
            for target in ["/~\(Self.file(1))", "/file"] {
                #expect(try await it.ask(.get, target, fields).status == 200)
                #expect(it.scene.transport.requests.last?.headerFields[.cookie] == nil)
            }
        }
        #expect(try it.storedCount == 0, "nobody's copy would stay after a logout")
    }

    @Test("DISK-48 JSON that was changed has a weak tag, and stays JSON whatever name this server is called by")
    func names() async throws {
        let it = try MountScenario(Self.options)
        let json = #"{"href":"https://api.test/a"}"#
        it.scene.transport.always(response(.ok, json, fields: [.contentType: "application/json", .eTag: "\"1\""]))
        for (mount, href, tag) in [
            (Self.mount, Self.mount + "/a", "W/\"1\""), ("http://a\"b/m", "http://a%22b/m/a", "W/\"1\""),
            ("http:///m", "https://api.test/a", "\"1\""),
        ] {
            let request = MountRequest(method: .get, target: "/a", mountURL: mount, headerFields: Self.token)
            let seen = try await it.mount.respond(to: request)
            #expect(seen.changeToken == nil && seen.head.headerFields[.eTag] == tag)
            let body: ByteBuffer =
                switch seen.body {
                case .none: ByteBuffer()
                case .bytes(let bytes): bytes
                case .stream(let parts, _): try await parts.collect(upTo: 1000)
                }
            #expect(String(buffer: body) == json.replacing("https://api.test/a", with: href))
        }
    }

    @Test("DISK-48 a JSON file of the user stays byte for byte over a link, and so does a range of it")
    func ownJSON() async throws {
        let it = try MountScenario(Self.options)
        let file = #"{"href":"https://\#(Self.file(1))","x":[]}"#
        it.scene.transport.then(response(.ok, file, fields: [.contentType: "application/json"]))
        let whole = try await it.ask(.get, "/~pictures.test/1?a=b", Self.token)
        #expect(whole.body == file && whole.fields[.contentLength].map { $0 == String(file.utf8.count) } ?? true)
        let part = String(file.prefix(30))
        let range = "bytes 0-29/\(file.utf8.count)"
        it.scene.transport.then(
            response(.partialContent, part, fields: [.contentType: "application/json", .contentRange: range])
        )
        let first = try await it.ask(.get, "/~pictures.test/2?a=b", Self.token + [.range: "bytes=0-29"])
        #expect(first.status == 206 && first.body == part && first.fields[.contentRange] == range)
    }

    @Test("DISK-48 SRV-11 only links that were sent lead to the origin of the API beside its base")
    func besideBase() async throws {
        let base = try #require(URL(string: "https://api.test/v1/disk"))
        let configuration = UpstreamConfiguration(name: "ships", title: "Ships", baseURL: base)
        let secrets = try SealedSecrets(try MountScenario().scene.database)
        let links = MountLinks(of: configuration, hasher: try secrets.credentialHasher(), secrets: secrets)
        #expect(links.led("https://api.test/v1/disk/resources?a", to: Self.mount) == "\(Self.mount)/resources?a")
        for (root, target) in [("disk", "/"), ("disk?a", "/?a"), ("disk/", "/")] {
            #expect(links.led("https://api.test/v1/\(root)", to: Self.mount) == Self.mount + target)
        }
        let link = "https://api.test/downloads/1?a=b"
        let target = String(links.led(link, to: Self.mount).dropFirst(Self.mount.count))
        #expect(target.wholeMatch(of: #//~[0-9a-f]{32}=api.test/downloads/1\?a=b/#) != nil, "\(target)")
        #expect(try links.link(of: target) == link)
        for other in ["/~api.test/downloads/1?a=b", target + "c", "/~=api.test/downloads/1?a=b"] {
            #expect(throws: UpstreamError.self) { try links.link(of: other) }
        }
        #expect(try links.link(of: "/resources?path=~x=y/") == nil)
    }

    @Test("DISK-48 SRV-11 only links that were sent lead to other ports of listed hosts, without fields of the API")
    func otherPort() async throws {
        let name = try #require(HTTPField.Name("X-Own"))
        var options = Self.options
        options.requestFields = [RequestField(name, isKey: false)]
        let it = try MountScenario(options)
        let links = try #require(it.mount.links)
        let target = String(links.led("https://pictures.test:8443/1?a", to: Self.mount).dropFirst(Self.mount.count))
        #expect(target.wholeMatch(of: #//~[0-9a-f]{32}=pictures.test:8443/1\?a/#) != nil, "\(target)")
        it.scene.transport.always(response(.ok, "content"))
        for (asked, url, own) in [
            (target, "https://pictures.test:8443/1?a", nil), ("/a", "https://api.test/a", "1"),
        ] as [(String, String, String?)] {
            _ = try await it.ask(.get, asked, Self.token + [name: "1"])
            let sent = try #require(it.scene.transport.requests.last)
            #expect(sent.url == url && sent.headerFields[name] == own)
        }
    }

    @Test("DISK-48 after the sealing key was replaced, what was stored is requested again")
    func keyReplaced() async throws {
        let it = try Self.scenario()
        _ = try await it.ask(.get, "/file", Self.token)
        try SealedSecrets(it.scene.database).rotateKey()
        let secrets = try SealedSecrets(it.scene.database)
        let mount = Mount(it.scene.upstream, hasher: try secrets.credentialHasher(), secrets: secrets)
        it.scene.transport.then(response(.serviceUnavailable, "down"))
        let request = MountRequest(method: .get, target: "/file", headerFields: Self.token)
        #expect(try await mount.respond(to: request).head.status == .serviceUnavailable)
        #expect(try await mount.respond(to: request).head.status == .ok)
    }
}

extension HTTPFields {
    fileprivate static func + (one: HTTPFields, other: HTTPFields) -> HTTPFields {
        HTTPFields(Array(one) + Array(other))
    }
}
