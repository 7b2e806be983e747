import Foundation
import Screens
import TestKit
import Testing

/// The pages of the front end as a browser gets them.
@Suite("Pages")
struct PageTests {
    /// Every kind of address that the front end has.
    static let addresses = [
        "/", "/status", "/docs", "/share", "/disk", "/disk/onboarding", "/disk/login?code=1&state=2", "/disk/recent",
        "/disk/files?path=disk:/%D0%9F%2B%25", "/disk/search?query=a", "/disk/file?path=disk:/a", "/disk/offline",
        "/disk/published", "/disk/outbox",
        "/disk/trash", "/disk/profile", "/shop?q=&price_min=1", "/shop/1", "/shop/list", "/pdf/welcome", "/pdf",
        "/pdf/new", "/pdf/0123456789abcdef", "/ships/login", "/ships", "/ships/5ea6ed2d080df4000697c901",
        "/notes/login", "/notes", "/notes/new", "/notes/7", "/notes/map", "/notes/people", "/notes/people/1",
    ]

    /// The policy of a page at an address of this server.
    private static func policy(_ host: String) -> String {
        "default-src 'none'; script-src \(host)/web/; style-src \(host)/web/; img-src 'self' blob: data:; "
            + "media-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; "
            + "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types worker"
    }

    private static func expectProtection(_ response: ReceivedResponse, port: Int, _ address: String) {
        #expect(response.headers["content-security-policy"] == policy("http://127.0.0.1:\(port)"), "\(address)")
        #expect(response.headers["x-content-type-options"] == "nosniff", "\(address)")
        #expect(response.headers["referrer-policy"] == "no-referrer", "\(address)")
        #expect(response.headers["cross-origin-opener-policy"] == "same-origin", "\(address)")
        #expect(response.headers["permissions-policy"] == "geolocation=(self), microphone=(self)", "\(address)")
    }

    @Test("WEB-02 Every page and every file has the policy that lets only the files of the front end run")
    func protection() async throws {
        let assets = WebAssets.embedded
        try await withLarder { larder in
            for address in Self.addresses {
                let response = try await larder.send("GET", address)
                #expect(response.status == 200 && response.headers["content-type"] == "text/html; charset=utf-8")
                #expect(response.text.contains("/web/\(assets.digest)/"), "\(address)")
                #expect(!response.text.contains("{digest}"), "\(address)")
                Self.expectProtection(response, port: larder.port, address)
            }
            let names = Repository.files(in: "Sources/CWebAssets/site").filter { $0 != "index.html" }
            for address in names.map({ "/web/\(assets.digest)/\($0)" }) + ["/favicon.ico", "/manifest.webmanifest"] {
                let response = try await larder.send("GET", address)
                #expect(response.status == 200, "\(address)")
                Self.expectProtection(response, port: larder.port, address)
            }
        }
    }

    @Test("WEB-03 Files are cached permanently under their digest, the page is revalidated; another digest is 404")
    func caching() async throws {
        let digest = WebAssets.embedded.digest
        try await withLarder { larder in
            let page = try await larder.send("GET", "/")
            #expect(page.headers["cache-control"] == "no-cache")
            let again = try await larder.send("GET", "/", ["If-None-Match": page.headers["etag"] ?? ""])
            #expect(again.status == 304 && again.body.isEmpty)
            let file = try await larder.send("GET", "/web/\(digest)/texts.js")
            #expect(file.headers["cache-control"] == "public, max-age=31536000, immutable")
            #expect(file.headers["content-type"] == "text/javascript; charset=utf-8")
            for path in ["\(digest.reversed().map(String.init).joined())/texts.js", "\(digest)/other.js"] {
                let other = try await larder.send("GET", "/web/\(path)")
                #expect(other.status == 404 && other.problemCode == "not-found", "\(path)")
            }
        }
    }

    @Test("WEB-47 The worker may serve the page of shared files only, and the manifest names the files of this version")
    func installation() async throws {
        let digest = WebAssets.embedded.digest
        try await withLarder { larder in
            let worker = try await larder.send("GET", "/web/\(digest)/worker.js")
            #expect(worker.headers["service-worker-allowed"] == "/share")
            #expect(worker.headers["content-type"] == "text/javascript; charset=utf-8")
            let script = try await larder.send("GET", "/web/\(digest)/main.js")
            #expect(script.headers["service-worker-allowed"] == nil)
            let manifest = try await larder.send("GET", "/manifest.webmanifest")
            #expect(manifest.text.contains("/web/\(digest)/icon-512.png"))
            #expect(manifest.headers["cache-control"] == "no-cache")
        }
    }

    @Test("WEB-47 Shared files that no worker has taken lead a browser to the page that says so; others are refused")
    func unshared() async throws {
        try await withLarder { larder in
            for origin in ["null", "http://127.0.0.1:\(larder.port)", "http://elsewhere.test"] {
                let sent = try await larder.send("POST", "/share", ["Accept": "text/html,*/*;q=0.8", "Origin": origin])
                #expect(sent.status == 303 && sent.headers["location"] == "/share?failed=1" && sent.body.isEmpty)
            }
            let refused = try await larder.send("POST", "/share", ["Accept": "application/json"])
            #expect(refused.status == 405 && refused.headers["allow"] == "GET, HEAD, OPTIONS")
            for path in ["/notes", "/v1/notes", "/nowhere"] {
                #expect(try await larder.send("POST", path, ["Accept": "text/html"]).problemCode != nil, "\(path)")
            }
        }
    }

    @Test("A file is found by its own name only: no other folder, encoding or page")
    func names() async throws {
        let digest = WebAssets.embedded.digest
        try await withLarder { larder in
            for path in [
                "/web/\(digest)/index.html", "/web/\(digest)/..%2findex.html", "/web/\(digest)/%2e%2e",
                "/web/\(digest)/a/b.js", "/web/\(digest)", "/web/\(digest)/", "/web//texts.js",
                "/web/\(digest)/TEXTS.js",
                "/disk/nowhere", "/shop/a%2Fb", "/ships/%20", "/notes/people/a.b", "/index.html",
            ] {
                let response = try await larder.send("GET", path)
                #expect(response.status == 404, "\(path)")
            }
        }
    }

    @Test(
        "An address that has nothing shows a browser the pages' document with 404, and everyone else the problem",
        arguments: [
            ("/nowhere", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("/disk/nowhere", "text/html", true), ("/shop/", "text/html,*/*;q=0.5", true),
            ("/web/0/main.js", "text/html", true), ("/nowhere", "*/*", false), ("/nowhere", "application/json", false),
            ("/nowhere", "application/json, text/html;q=0.9", false), ("/nowhere", "text/html;q=0, */*", false),
            ("/v1/nowhere", "text/html", false), ("/v1/", "text/html", false), ("/nowhere", nil, false),
        ] as [(String, String?, Bool)]
    )
    func nothing(_ path: String, _ accept: String?, _ isPage: Bool) async throws {
        try await withLarder { larder in
            let fields = accept.map { ["Accept": $0] } ?? [:]
            let response = try await larder.send("GET", path, fields)
            #expect(response.status == 404 && response.headers["cache-control"] == "no-store")
            if isPage {
                #expect(response.text.contains("<!doctype html>") && response.headers["etag"] == nil)
                Self.expectProtection(response, port: larder.port, path)
                let head = try await larder.send("HEAD", path, fields)
                #expect(head.status == 404 && head.body.isEmpty)
                #expect(head.headers["content-length"] == response.headers["content-length"])
            } else {
                #expect(response.problemCode == "not-found" && response.headers["content-security-policy"] == nil)
            }
            let written = try await larder.send("DELETE", path, fields)
            #expect(written.problemCode != nil, "\(path)")
        }
    }

    @Test("Without web.enabled there is no page; the screens are there")
    func disabled() async throws {
        try await withLarder(["--web-enabled", "false"]) { larder in
            for path in ["/", "/status", "/disk", "/favicon.ico", "/robots.txt"] {
                let response = try await larder.send("GET", path, ["Accept": "text/html"])
                #expect(response.status == 404 && response.problemCode == "not-found", "\(path)")
            }
            let index = try await larder.send("GET", "/v1")
            #expect(index.status == 200)
        }
    }

    @Test("Files of web.directory are those of the moment, and are kept by no cache")
    func folder() async throws {
        let folder = try TemporaryFolder()
        let (shell, script) = (folder.url.appending(path: "index.html"), folder.url.appending(path: "main.js"))
        try Data("<!doctype html><script src=\"/web/{digest}/main.js\">".utf8).write(to: shell)
        try await withLarder(["--web-directory", folder.path]) { larder in
            let page = try await larder.send("GET", "/shop")
            #expect(page.text.contains("/web/folder/main.js") && page.headers["cache-control"] == "no-store")
            #expect(try await larder.send("GET", "/web/folder/main.js").status == 404)
            for text in ["1", "22"] {
                try Data(text.utf8).write(to: script)
                let file = try await larder.send("GET", "/web/folder/main.js")
                #expect(file.text == text && file.headers["cache-control"] == "no-store")
            }
        }
    }
}
