import HTTPTypes
import Testing

@testable import Upstream

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
