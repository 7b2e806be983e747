import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Upstream

/// Known failures of pictures and of their hosts, and the longest wait for a picture.
@Suite(.timeLimit(.minutes(10)))
struct PictureReadTests {
    private static func picture(_ url: String = "https://pictures.test/a.png") -> Resource {
        var picture = Resource(url: url, freshness: nil)
        picture.isPicture = true
        picture.validate = { response throws(UpstreamError) in
            guard response.body.starts(with: "PNG".utf8) else {
                throw .badResponse(status: response.status, reason: "not a picture")
            }
            guard response.body.count > 3 else {
                throw .badResponse(status: response.status, reason: UpstreamError.cutShort)
            }
            return .none
        }
        return picture
    }

    /// Reads a picture that is not stored.
    private func failure(
        of picture: Resource = picture(),
        _ scene: Scenario,
        _ policy: CachePolicy = .useCache
    ) async throws -> UpstreamError? {
        do {
            _ = try await scene.upstream.read(picture, policy)
            return nil
        } catch let error as UpstreamError {
            return error
        }
    }

    private static let known = UpstreamError.known(.unreachable(.network))

    @Test("ONE-12 a picture is waited for 3 s at most; its request continues, and a later read finds it stored")
    func patience() async throws {
        let scene = try Scenario(attempts: 1)
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "PNG-1")))
        async let first = failure(scene)
        await scene.clock.sleepers(of: .seconds(3))
        scene.clock.advance(by: .seconds(3))
        #expect(try await first == .unreachable(.totalTimeout))
        // The other pictures of the page do not wait for the same host.
        #expect(try await failure(of: Self.picture("https://pictures.test/b.png"), scene) == Self.known)
        #expect(scene.transport.count == 1)
        async let joined = scene.upstream.read(Self.picture(), .revalidate)
        await scene.clock.sleepers(of: .seconds(3))
        gate.open()
        #expect(try await joined.cacheStatus == "larder; fwd=uri-miss; collapsed")
        #expect(try await scene.upstream.read(Self.picture()).cacheStatus?.hasPrefix("larder; hit") == true)
        scene.transport.then(response(.ok, "PNG-2"))
        let other = try await scene.upstream.read(Self.picture("https://pictures.test/b.png"))
        #expect(
            other.cacheStatus == "larder; fwd=uri-miss; stored",
            "the late response has shown that the host is there"
        )
    }

    @Test("ONE-12 a host that was not reached is not asked for the length of its pause, whatever the picture")
    func pause() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.always(TestKit.failure(.unreachable(.refused)))
        #expect(try await failure(scene) == .unreachable(.refused))
        for name in ["a", "b", "c"] {
            #expect(try await failure(of: Self.picture("https://pictures.test/\(name).png"), scene) == Self.known)
        }
        scene.clock.advance(by: .seconds(4))
        #expect(try await failure(scene) == Self.known)
        #expect(scene.transport.count == 1)
        // A refresh asks in spite of a known failure, and its own failure lengthens the pause.
        #expect(try await failure(scene, .revalidate) == .unreachable(.refused))
        scene.clock.advance(by: .seconds(9))
        #expect(try await failure(scene) == Self.known)
        #expect(scene.transport.count == 2)
        scene.clock.advance(by: .seconds(1))
        scene.transport.always(response(.ok, "PNG-1"))
        #expect(try await scene.upstream.read(Self.picture()).cacheStatus == "larder; fwd=uri-miss; stored")
    }

    @Test("ONE-12 once the pause is over, one of the pictures tries the host; the others do not wait for it")
    func oneTries() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.always(TestKit.failure(.unreachable(.refused)))
        _ = try await failure(scene)
        scene.clock.advance(by: .seconds(5))
        let gate = Gate()
        scene.transport.always(held(by: gate, response(.ok, "PNG-1")))
        async let tried = scene.upstream.read(Self.picture())
        await gate.arrivals(1)
        for name in ["b", "c"] {
            #expect(try await failure(of: Self.picture("https://pictures.test/\(name).png"), scene) == Self.known)
        }
        gate.open()
        _ = try await tried
        _ = try await scene.upstream.read(Self.picture("https://pictures.test/b.png"))
        #expect(scene.transport.count == 3)
    }

    @Test(
        "ONE-12 a missing picture is remembered for 60 s: 404, 403, a page, another type, a redirect elsewhere",
        arguments: [
            response(.notFound), response(.forbidden, "<html>"), response(.gone), response(.ok, "<html>"),
            response(.ok, #"{"error":"gone"}"#), response(.noContent),
            response(.found, fields: [.location: "https://evil.test/x.png"]),
        ]
    )
    func missing(step: @escaping ScriptedTransport.Step) async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.always(step)
        let error = try #require(try await failure(scene))
        #expect(error.wasSent)
        scene.clock.advance(by: .seconds(59))
        #expect(try await failure(scene) == .known(error))
        #expect(scene.transport.count == 1 && scene.upstream.reachability.lastError == nil)
        scene.transport.always(response(.ok, "PNG-1"))
        // Another picture of the host is asked for, and so is this one by a refresh or a minute later.
        _ = try await scene.upstream.read(Self.picture("https://pictures.test/b.png"))
        scene.clock.advance(by: .seconds(1))
        #expect(try await scene.upstream.read(Self.picture()).cacheStatus == "larder; fwd=uri-miss; stored")
        scene.transport.always(step)
        _ = try await failure(of: Self.picture("https://pictures.test/c.png"), scene)
        scene.transport.always(response(.ok, "PNG-1"))
        _ = try await scene.upstream.read(Self.picture("https://pictures.test/c.png"), .revalidate)
    }

    @Test("a picture that broke off, or whose host fails, is requested again: it may be there the next time")
    func passing() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.then(response(.ok, "PNG"), response(.internalServerError), response(.ok, "PNG-1"))
        #expect(try await failure(scene) == .badResponse(status: .ok, reason: UpstreamError.cutShort))
        #expect(try await failure(scene) == .failing(status: .internalServerError, retryAfter: nil))
        #expect(try await scene.upstream.read(Self.picture()).cacheStatus == "larder; fwd=uri-miss; stored")
    }

    @Test("ONE-12 a host of pictures that asks for a pause gets one; the API does not wait for it")
    func retryAfter() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.then(response(.tooManyRequests, fields: [.retryAfter: "30"]))
        #expect(try await failure(scene) == .failing(status: .tooManyRequests, retryAfter: 30))
        let other = Self.picture("https://pictures.test/b.png")
        #expect(try await failure(of: other, scene) == .known(.failing(status: .tooManyRequests, retryAfter: 30)))
        scene.transport.then(response(.ok, "one"), response(.ok, "PNG-1"))
        _ = try await scene.upstream.read(scene.list())
        scene.clock.advance(by: .seconds(30))
        _ = try await scene.upstream.read(other)
        #expect(scene.transport.count == 3)
    }

    @Test("ONE-12 a redirect to a host that is known to be away is not followed: its pictures do not wait for it")
    func redirected() async throws {
        let scene = try Scenario(attempts: 1) { $0.allowedHosts = ["pictures.test", "cdn.test"] }
        scene.transport.always { (request) throws(UpstreamError) in
            guard !request.url.contains("cdn.test") else { throw .unreachable(.connectTimeout) }
            let fields: HTTPFields = [.location: "https://cdn.test/x.png"]
            return IncomingResponse(status: .found, headerFields: fields)
        }
        #expect(try await failure(scene) == .unreachable(.connectTimeout))
        #expect(try await failure(of: Self.picture("https://pictures.test/b.png"), scene) == .unreachable(.network))
        #expect(scene.transport.requests.map(\.url).filter { $0.contains("cdn") }.count == 1)
    }

    @Test("ONE-12 pictures at the origin of the API do not make it unreachable, nor does it wait for their pause")
    func besideAPI() async throws {
        let scene = try Scenario(attempts: 1) { $0.baseURL = URL(string: "https://api.test/v1") ?? $0.baseURL }
        let picture = Self.picture("https://api.test/v1/files/a.png")
        scene.transport.then(TestKit.failure(.unreachable(.totalTimeout)), response(.ok, "one"))
        #expect(try await failure(of: picture, scene) == .unreachable(.totalTimeout))
        #expect(scene.upstream.reachability.isReachable && scene.upstream.reachability.lastError == nil)
        _ = try await scene.upstream.read(scene.list("/v1/list"))
        #expect(try await failure(of: Self.picture("https://api.test/v1/files/b.png"), scene) == Self.known)
        #expect(scene.transport.count == 2)
        // A loss of the API is one of its pictures, too.
        scene.clock.advance(by: .seconds(5))
        scene.transport.then(TestKit.failure(.unreachable(.refused)))
        _ = try? await scene.upstream.read(scene.list("/v1/other"), .revalidate)
        #expect(try await failure(of: picture, scene) == Self.known)
        #expect(scene.transport.count == 3)
    }

    @Test(
        "the health of a host is that of its origin; the API's own origin has one for each folder",
        arguments: [
            ("https://i.pictures.test/a.png", "https://i.pictures.test/b/c.png", true),
            ("https://i.pictures.test/a.png", "https://I.Pictures.test/b.png", true),
            ("https://a.pictures.test/a.png", "https://b.pictures.test/a.png", false),
            ("http://pictures.test/a.png", "https://pictures.test/a.png", false),
            ("https://api.test/uploader/1/2", "https://api.test/downloader/1/2", false),
            ("https://api.test/uploader/1/2", "https://api.test/uploader/3/4", true),
            ("https://api.test/a.png", "https://api.test/b.png", true),
            ("https://api.test/v1/files/a.png", "https://api.test/v1/files/b/c.png", true),
            ("https://api.test/v1/files/a.png", "https://api.test/v1/images/a.png", false),
            ("https://api.test/v1/a.png", "https://api.test/v1/b.png", true),
        ]
    )
    func hosts(first: String, second: String, areOne: Bool) throws {
        let scene = try Scenario { $0.baseURL = URL(string: "https://api.test/v1") ?? $0.baseURL }
        let client = scene.upstream.client
        let hosts = [first, second].map { client.linkedHost(of: $0, at: client.targets.target(of: $0)) }
        #expect((hosts[0] == hosts[1]) == areOne)
    }

    @Test("a reset of what is known, as after a change of the sandbox's faults, asks for all again")
    func forgotten() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.then(response(.notFound), TestKit.failure(.unreachable(.refused)))
        _ = try await failure(scene)
        _ = try await failure(of: Self.picture("https://pictures.test/b.png"), scene)
        _ = scene.upstream.forgetFailures()
        scene.transport.always(response(.ok, "PNG-1"))
        for name in ["a", "b"] { _ = try await scene.upstream.read(Self.picture("https://pictures.test/\(name).png")) }
        #expect(scene.transport.count == 4)
    }
}

/// Pictures whose addresses an API tells.
@Suite(.timeLimit(.minutes(10)))
struct PictureReadsTests {
    @Test("ONE-12 nobody waits longer than 3 s, nor for a host that is away, nor for a picture that is missing")
    func known() async throws {
        let scene = try Scenario(attempts: 1)
        let reads = PictureReads<Int>(of: scene.upstream)
        let asked = Watched(0)
        @Sendable func read(_ name: String, isForced: Bool = false) async throws -> Int {
            try await reads.read(name, isForced: isForced) {
                asked.update { $0 += 1 }
                let response = try await reads.download("https://pictures.test/\(name)", [:], isForced: isForced)
                return response.body.count
            }
        }
        scene.transport.then(response(.notFound))
        let missing = UpstreamError.badResponse(
            status: .notFound,
            reason: "status 404, not in the form of its own refusals"
        )
        await #expect(throws: missing) { try await read("missing") }
        await #expect(throws: UpstreamError.known(missing)) { try await read("missing") }
        scene.clock.advance(by: .seconds(60))
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "four")))
        let slow = Task { try await read("slow") }
        await scene.clock.sleepers(of: .seconds(3))
        scene.clock.advance(by: .seconds(3))
        await #expect(throws: UpstreamError.unreachable(.totalTimeout)) { try await slow.value }
        await #expect(throws: UpstreamError.known(.unreachable(.network))) { try await read("other") }
        #expect(asked.value == 2 && scene.transport.count == 2)
        scene.transport.always(response(.ok, "four"))
        #expect(try await read("other", isForced: true) == 4)
        gate.open()
        #expect(try await read("missing") == 4)
    }
}
