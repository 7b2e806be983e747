import Foundation
import HTTPTypes
import NIOCore
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

@Suite(.timeLimit(.minutes(10)))
struct RequestScopeTests {
    @Test("TRUST-13 All requests of one client request end in one total time, which then says nothing of the upstream")
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
            _ = try await scene.upstream.stream(upload, headTimeout: .seconds(3600), responseTimeout: .seconds(1800))
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

struct RequestTraceTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let traceparent = HTTPField.Name("traceparent") ?? .accept
    private static let tracestate = HTTPField.Name("tracestate") ?? .accept

    private func marked(_ fields: HTTPFields) -> HTTPFields {
        var outgoing = HTTPFields()
        RequestTrace(requestID: "r-1", fields) { 0xAB }.mark(&outgoing)
        return outgoing
    }

    @Test("TRUST-17 The identity of the request goes to the upstream, and its trace with a span of Larder's own")
    func marked() {
        let fields: HTTPFields = [
            Self.traceparent: "00-\(Self.trace)-b7ad6b7169203331-01", Self.tracestate: "a=1",
        ]
        let outgoing = marked(fields)
        #expect(outgoing[HTTPField.Name("X-Request-Id") ?? .accept] == "r-1")
        #expect(outgoing[Self.traceparent] == "00-\(Self.trace)-00000000000000ab-01")
        #expect(outgoing[Self.tracestate] == "a=1")
        #expect(RequestTrace(requestID: "r-1", fields) { 1 }.traceID == Self.trace)
    }

    @Test("HARN-11 The fault of a request goes to simulated upstreams, as long as its response is being made")
    func fault() {
        var fields: HTTPFields = [.sandboxFault: "slow(1)"]
        fields.append(HTTPField(name: .sandboxFault, value: "bandwidth(32)"))
        let (trace, scope) = (RequestTrace(requestID: "r-1", fields) { 1 }, RequestScope())
        let marked = {
            var outgoing = HTTPFields()
            trace.markFault(&outgoing)
            return outgoing[.sandboxFault]
        }
        #expect(marked() == nil, "outside of a request")
        #expect(RequestScope.$current.withValue(scope) { marked() } == "slow(1), bandwidth(32)")
        scope.end()
        #expect(RequestScope.$current.withValue(scope) { marked() } == nil)
        #expect(self.marked(fields)[.sandboxFault] == nil)
    }

    @Test(
        "TRUST-17 A traceparent that is malformed is ignored",
        arguments: [
            "", "00-\(trace)-b7ad6b7169203331", "ff-\(trace)-b7ad6b7169203331-01",
            "00-\(trace.uppercased())-b7ad6b7169203331-01", "00-\(trace)-0000000000000000-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-\(trace)-b7ad6b7169203331-01-x",
        ]
    )
    func malformed(text: String) {
        let outgoing = marked([Self.traceparent: text, Self.tracestate: "a=1"])
        #expect(outgoing[Self.traceparent] == nil && outgoing[Self.tracestate] == nil)
        #expect(outgoing.count == 1)
    }
}
