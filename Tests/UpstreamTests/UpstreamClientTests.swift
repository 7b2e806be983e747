import Foundation
import HTTP
import HTTPTypes
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// Redirects, retries, the deadline, and the results that change the upstream's reachability.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamClientTests {
    private let scene: Scenario

    init() throws { scene = try Scenario() }

    private static func redirect(_ location: String, _ status: HTTPResponse.Status = .found) -> ScriptedTransport.Step {
        response(status, fields: [.location: location])
    }

    private static func authorized(_ scene: Scenario) -> Resource {
        var resource = scene.list()
        resource.headerFields[.authorization] = "OAuth secret"
        resource.headerFields[.cookie] = "a=b"
        resource.headerFields[.apiKey] = "key"
        return resource
    }

    @Test("A redirect within the origin is followed with the credentials", arguments: [301, 302, 303, 307, 308])
    func ownRedirect(status: Int) async throws {
        scene.transport.then(Self.redirect("/moved?x=1#f", .init(code: status)), response(.ok, "one"))
        let result = try await scene.upstream.read(Self.authorized(scene))
        #expect(try scene.body(of: result.response) == "one")
        #expect(scene.transport.requests.last?.url == "https://api.test/moved?x=1")
        #expect(scene.transport.requests.last?.headerFields[.authorization] == "OAuth secret")
        #expect(scene.transport.exchanges.last?.limits.publicAddressesOnly == false)
        #expect(try scene.storedBody(scene.list()) == "one", "stored under the URL that was asked for")
    }

    @Test("SRV-11 A redirect to a listed host is followed without credentials and to public addresses only")
    func listedRedirect() async throws {
        scene.transport.then(
            Self.redirect("https://pictures.test/a"),
            Self.redirect("https://api.test/back"),
            response(.ok, "one")
        )
        _ = try await scene.upstream.read(Self.authorized(scene))
        let away = scene.transport.exchanges[1]
        #expect(away.request.url == "https://pictures.test/a")
        #expect(away.request.headerFields[.authorization] == nil && away.request.headerFields[.cookie] == nil)
        #expect(away.request.headerFields[.apiKey] == nil)
        #expect(away.request.headerFields[.accept] == "application/json")
        #expect(away.limits.publicAddressesOnly)
        #expect(scene.transport.exchanges[2].limits.publicAddressesOnly == false)
    }

    @Test(
        "SRV-11 A redirect anywhere else is refused",
        arguments: ["https://evil.test/", "http://api.test/", "file:///etc/passwd", "http://127.0.0.1/"]
    )
    func forbiddenRedirect(location: String) async throws {
        scene.transport.then(Self.redirect(location))
        let error = await #expect(throws: UpstreamError.self) { try await scene.upstream.read(scene.list()) }
        guard case .forbiddenTarget? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(scene.transport.count == 1)
        #expect(scene.upstream.reachability.lastOK == scene.clock.now, "it did respond")
    }

    @Test("Every request of an app says that Larder asks; one that says something else goes as it is")
    func userAgent() async throws {
        scene.transport.always(response(.ok, "one"))
        _ = try await scene.upstream.read(scene.list())
        _ = try await scene.upstream.call(
            OutgoingRequest(url: "https://api.test/write", headerFields: [.userAgent: "Other"])
        )
        #expect(scene.transport.requests.map { $0.headerFields[.userAgent] } == ["Larder", "Other"])
    }

    @Test("Redirects in a circle end after five")
    func loop() async throws {
        scene.transport.always(Self.redirect("/list"))
        await #expect(throws: UpstreamError.badResponse(status: nil, reason: "more than 5 redirects")) {
            try await scene.upstream.read(scene.list())
        }
        #expect(scene.transport.count == 6)
    }

    @Test("A redirect without a target is a bad response")
    func nowhere() async throws {
        scene.transport.then(response(.found))
        await #expect(throws: UpstreamError.badResponse(status: .found, reason: "status 302")) {
            try await scene.upstream.read(scene.list())
        }
    }

    @Test("The target of a redirect says nothing of the upstream itself, which responded")
    func brokenTarget() async throws {
        scene.transport.then(Self.redirect("https://pictures.test/a"), failure(.unreachable(.refused)))
        await #expect(throws: UpstreamError.unreachable(.refused)) { try await scene.upstream.read(scene.list()) }
        #expect(scene.upstream.reachability.isReachable)
        #expect(scene.changes.value.isEmpty)
    }

    @Test(
        "A link to another host says nothing about the upstream itself",
        arguments: [
            response(.ok, "<html>"), response(.internalServerError),
            response(.serviceUnavailable, fields: [.retryAfter: "60"]), response(.notFound),
        ]
    )
    func otherHost(step: @escaping ScriptedTransport.Step) async throws {
        await scene.goDown()
        scene.transport.then(step)
        let picture = Resource(
            url: "https://pictures.test/a",
            freshness: nil,
            validate: { _ throws(UpstreamError) in throw .badResponse(status: .ok, reason: "not a picture") }
        )
        await #expect(throws: UpstreamError.self) { try await scene.upstream.read(picture) }
        #expect(!scene.upstream.reachability.isReachable)
        #expect(scene.upstream.reachability.pause(at: scene.clock.now) == nil)
    }

    @Test("A connection that was reset is retried once, and no failure is recorded")
    func reset() async throws {
        scene.transport.then(failure(.unreachable(.reset)), response(.ok, "one"))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=uri-miss; stored")
        #expect(scene.transport.count == 2)
        #expect(scene.changes.value.isEmpty)
    }

    @Test("Once: the second reset stands")
    func resetTwice() async throws {
        scene.transport.always(failure(.unreachable(.reset)))
        await #expect(throws: UpstreamError.unreachable(.reset)) { try await scene.upstream.read(scene.list()) }
        #expect(scene.transport.count == 2)
        #expect(scene.upstream.reachability.failures == 1)
    }

    @Test("A truncated response is retried once")
    func truncated() async throws {
        scene.transport.then(failure(.badResponse(status: .ok, reason: UpstreamError.cutShort)), response(.ok, "one"))
        #expect(try await scene.upstream.read(scene.list()).provenance.isValidatedNow)
    }

    @Test(
        "A refusal is not tried again",
        arguments: [
            UpstreamError.unreachable(.refused), .unreachable(.connectTimeout),
            .badResponse(status: .ok, reason: "not HTTP"),
        ]
    )
    func refused(error: UpstreamError) async throws {
        scene.transport.always(failure(error))
        await #expect(throws: error) { try await scene.upstream.read(scene.list()) }
        #expect(scene.transport.count == 1)
    }

    @Test("503 is tried again after a pause; with Retry-After it is not")
    func serviceUnavailable() async throws {
        scene.transport.then(response(.serviceUnavailable), response(.ok, "one"))
        async let result = scene.upstream.read(scene.list())
        await scene.clock.sleepers(of: .milliseconds(100))
        #expect(scene.transport.count == 1)
        scene.clock.advance(by: .milliseconds(100))
        #expect(try await result.provenance.isValidatedNow)
        scene.transport.then(response(.serviceUnavailable, fields: [.retryAfter: "0"]))
        await #expect(throws: UpstreamError.failing(status: .serviceUnavailable, retryAfter: 0)) {
            try await scene.upstream.read(scene.list("/other"))
        }
        #expect(scene.transport.count == 3)
    }

    @Test("POST is neither repeated nor redirected")
    func post() async throws {
        let post = OutgoingRequest(
            method: .post,
            url: "https://api.test/list",
            headerFields: [.userAgent: "Test"],
            body: Array("x".utf8)
        )
        scene.transport.then(
            failure(.unreachable(.reset)),
            response(.serviceUnavailable),
            Self.redirect("/moved", .temporaryRedirect)
        )
        await #expect(throws: UpstreamError.unreachable(.reset)) { try await scene.upstream.send(post) }
        await #expect(throws: UpstreamError.failing(status: .serviceUnavailable, retryAfter: nil)) {
            try await scene.upstream.send(post)
        }
        #expect(try await scene.upstream.send(post).status == .temporaryRedirect)
        #expect(scene.transport.requests == [post, post, post])
    }

    @Test("A client that leaves says nothing of the upstream, whether its body is buffered or streamed")
    func clientLeaves() async throws {
        let gate = Gate()
        scene.transport.always(held(by: gate, response(.ok, "one")))
        let buffered = Task { try await scene.upstream.call(OutgoingRequest(url: "https://api.test/list")) }
        await gate.arrivals(1)
        buffered.cancel()
        await #expect(throws: UpstreamError.unreachable(.totalTimeout)) { try await buffered.value }
        let streamed = Task {
            try await scene.upstream.stream(
                StreamedRequest(method: .get, url: "https://api.test/list", headerFields: [:])
            )
        }
        await gate.arrivals(2)
        streamed.cancel()
        await #expect(throws: UpstreamError.unreachable(.totalTimeout)) { try await streamed.value }
        #expect(scene.upstream.reachability.isReachable)
        #expect(scene.upstream.reachability.lastError == nil)
    }

    @Test("The total time bounds attempts and redirects together")
    func deadline() async throws {
        let scene = try Scenario { $0.totalTimeout = .seconds(8) }
        let clock = scene.clock
        let takes: @Sendable (Duration, @escaping ScriptedTransport.Step) -> ScriptedTransport.Step = { span, step in
            { request throws(UpstreamError) in
                clock.advance(by: span)
                return try await step(request)
            }
        }
        scene.transport.then(
            takes(.seconds(3), Self.redirect("/a")),
            takes(.seconds(4), failure(.unreachable(.reset))),
            takes(.seconds(2), Self.redirect("/b"))
        )
        await #expect(throws: UpstreamError.unreachable(.totalTimeout)) { try await scene.upstream.read(scene.list()) }
        #expect(scene.transport.exchanges.map(\.limits.total) == [.seconds(8), .seconds(5), .seconds(1)])
    }
}
