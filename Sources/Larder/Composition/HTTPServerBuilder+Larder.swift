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
        tls: TLSOptions?,
        metrics: PrometheusRegistry
    ) -> HTTPServerBuilder {
        // Event loops belong to no server.
        @Sendable func count(_ label: String, _ dimension: (String, String)) {
            PrometheusRegistry.$current.withValue(metrics) {
                Counter(label: label, dimensions: [dimension]).increment()
            }
        }
        return HTTPServerBuilder { responder in
            LarderHTTPChannel(
                responder: responder,
                limits: limits,
                problem: table.content(of:_:),
                onRefusal: { refusal in
                    count("larder_http_refusals_total", ("code", ProblemCode(refusal.reason).rawValue))
                },
                onAbruptClose: { close in
                    count("larder_http_cuts_total", ("reason", close.rawValue))
                },
                connections: connections,
                responseCache: responseCache,
                tls: tls
            )
        }
    }
}
