import Foundation
import HTTPTypes
import NIOCore
import TestKit
import Testing

@testable import Concurrency
@testable import Freshness
@testable import Upstream

@Suite(.timeLimit(.minutes(10)))
struct RequestScopeTests {
    @Test(
        "TRUST-13 All requests of one client request end within one total time, which then says nothing of the upstream"
    )
    func deadline() async throws {
        let scene = try Scenario(attempts: 1)
        let scope = RequestScope()
        let clock = scene.clock
        scene.transport.then { _ in
            clock.advance(by: .seconds(5))
            return IncomingResponse(status: .ok)
        }
        try await RequestScope.$current.withValue(scope) {
            _ = try await scene.upstream.call(OutgoingRequest(url: "https://api.test/link"))
            scene.transport.then(failure(.unreachable(.totalTimeout)))
            await #expect(throws: UpstreamError.unreachable(.totalTimeout)) {
                try await scene.upstream.call(OutgoingRequest(url: "https://api.test/file"))
            }
            #expect(scene.transport.exchanges[1].limits.total == .seconds(3))
            clock.advance(by: .seconds(4))
            await #expect(throws: UpstreamError.unreachable(.totalTimeout)) {
                try await scene.upstream.call(OutgoingRequest(url: "https://api.test/file"))
            }
            #expect(scene.transport.count == 2, "no time is left to send it")
            #expect(scene.upstream.reachability.isReachable)
            scope.end()
            scene.transport.then(response(.ok))
            _ = try await scene.upstream.call(OutgoingRequest(url: "https://api.test/later"))
            #expect(scene.transport.exchanges[2].limits.total == .seconds(8))
        }
    }

    @Test("TRUST-13 The time in which a client sends a body is not taken from what follows")
    func upload() async throws {
        let scene = try Scenario(attempts: 1)
        let clock = scene.clock
        scene.transport.then(
            response(.ok),
            { _ in
                clock.advance(by: .seconds(60))
                return IncomingResponse(status: .created)
            },
            response(.ok)
        )
        try await RequestScope.$current.withValue(RequestScope()) {
            _ = try await scene.upstream.call(OutgoingRequest(url: "https://api.test/link"))
            let body = ByteStream(ByteBuffer(string: "bytes"))
            let upload = StreamedRequest(method: .put, url: "https://api.test/put", headerFields: [:], body: body)
            _ = try await scene.upstream.stream(
                upload,
                headTimeout: .seconds(3600),
                responseTimeout: .seconds(1800)
            )
            _ = try await scene.upstream.call(OutgoingRequest(url: "https://api.test/look"))
        }
        let limits = scene.transport.exchanges.map(\.limits)
        #expect(limits.map(\.total) == [.seconds(8), .seconds(3600), .seconds(8)])
        #expect(limits.map(\.response) == [.seconds(8), .seconds(1800), .seconds(8)], "DISK-40")
        #expect(
            limits.map(\.stall) == [.seconds(8), .seconds(60), .seconds(8)],
            "an uploader may take little at a time"
        )
    }
}
