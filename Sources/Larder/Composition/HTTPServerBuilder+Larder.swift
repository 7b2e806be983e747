import HTTPServer
import HummingbirdCore
import Metrics
import Screens

extension HTTPServerBuilder {
    /// Larder's own connections: limits, deadlines and closing ahead of Hummingbird.
    static func larder(
        limits: ConnectionLimits,
        _ connections: OpenConnections,
        _ responseCache: ResponseCache?,
        _ table: RouteTable,
        tls: TLSOptions?
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LarderHTTPChannel(
                responder: responder,
                limits: limits,
                problem: table.content(of:_:),
                onRefusal: { refusal in
                    let code = ProblemCode(refusal.reason).rawValue
                    Counter(label: "larder_http_refusals_total", dimensions: [("code", code)]).increment()
                },
                onAbruptClose: { close in
                    Counter(label: "larder_http_cuts_total", dimensions: [("reason", close.rawValue)]).increment()
                },
                connections: connections,
                responseCache: responseCache,
                tls: tls
            )
        }
    }
}
