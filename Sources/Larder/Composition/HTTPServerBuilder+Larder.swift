import Foundation
import HTTPServer
import HummingbirdCore
import Metrics
import Screens

extension HTTPServerBuilder {
    /// Larder's own connections: limits, deadlines and closing ahead of Hummingbird.
    static func larder(
        limits: ConnectionLimits,
        _ connections: OpenConnections,
        _ responseCache: ResponseCache?
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LarderHTTPChannel(
                responder: responder,
                limits: limits,
                problem: { refusal in
                    // A problem without fields of its own always encodes; an empty body would still carry the status.
                    let bytes = (try? ProblemDocument(Problem(refusal), instance: "").bytes()) ?? Data()
                    return (MediaType.problem, Array(bytes))
                },
                onRefusal: { refusal in
                    let code = ProblemCode(refusal.reason).rawValue
                    Counter(label: "larder_http_refusals_total", dimensions: [("code", code)]).increment()
                },
                onAbruptClose: { close in
                    Counter(label: "larder_http_cuts_total", dimensions: [("reason", close.rawValue)]).increment()
                },
                connections: connections,
                responseCache: responseCache
            )
        }
    }
}
