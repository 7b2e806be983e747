import Foundation
import HummingbirdCore
import Metrics
import Screens

extension HTTPServerBuilder {
    /// Larder's own connections: limits, deadlines and closing ahead of Hummingbird.
    static func larder(limits: ConnectionLimits, rendered: ResponseCache?) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LarderHTTPChannel(
                responder: responder,
                limits: limits,
                problem: { refusal in
                    let code = ProblemCode.common.first { $0.rawValue == refusal.code } ?? .malformedRequest
                    let problem = Problem(code, refusal.detail)
                    // A problem without fields of its own always encodes; an empty body would still carry the status.
                    let bytes = (try? ProblemDocument(problem, instance: "").bytes()) ?? Data()
                    return (MediaType.problem, Array(bytes))
                },
                onRefusal: { refusal in
                    Counter(label: "larder_http_refusals_total", dimensions: [("code", refusal.code)]).increment()
                },
                onCut: { cut in
                    Counter(label: "larder_http_cuts_total", dimensions: [("reason", cut.rawValue)]).increment()
                },
                rendered: rendered,
                frontHandlers: { [OwnDateHandler()] }
            )
        }
    }
}
