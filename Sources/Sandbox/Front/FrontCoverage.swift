package import HTTPTypes
import JSONValues
import Synchronization

/// The states and problems that clients have met in a server and its spaces. No reset empties it.
package final class FrontCoverage: Sendable {
    /// A kind of response.
    package struct Met: Sendable, Hashable, Comparable {
        /// `GET /v1/ships/{id}`.
        package let route: String
        package let status: Int
        /// The code of a problem, or the `detail` of `Cache-Status`; empty for a response without either.
        package let state: String

        package init(route: String, status: Int, state: String) {
            (self.route, self.status, self.state) = (route, status, state)
        }

        /// `503 upstream-unreachable`.
        package var text: String { state.isEmpty ? "\(status)" : "\(status) \(state)" }

        package static func < (one: Met, other: Met) -> Bool {
            (one.route, one.status, one.state) < (other.route, other.status, other.state)
        }
    }

    private let met = Mutex<[String: Set<Met>]>([:])

    package init() {}

    /// Notes a response.
    /// - Parameter condition: That of the server, as it was written; empty for none.
    package func note(_ one: Met, under condition: String) {
        _ = met.withLock { $0[condition, default: []].insert(one) }
    }

    /// The states and problems met under a condition; nil for under any.
    package func met(under condition: String? = nil) -> Set<Met> {
        met.withLock { all in
            condition.map { all[$0] ?? [] } ?? all.values.reduce(into: []) { $0.formUnion($1) }
        }
    }

    /// Returns the code of a problem, or the `detail` of `Cache-Status`; empty for a response without either.
    ///
    /// - Parameter body: Of a problem.
    package static func state(of fields: HTTPFields, _ body: [UInt8]) -> String {
        let code = isProblem(fields) ? JSONValue(json: body)?["code"]?.string : nil
        return code ?? detail(of: fields)
    }

    /// Whether a response is a problem (RFC 9457).
    package static func isProblem(_ fields: HTTPFields) -> Bool {
        fields[.contentType]?.hasPrefix("application/problem+json") == true
    }

    /// Returns the `detail` of the server's own member of `Cache-Status`, the last one (RFC 9211 section 2).
    private static func detail(of fields: HTTPFields) -> String {
        guard let name = HTTPField.Name("Cache-Status") else { return "" }
        let own = fields[values: name].last.map { $0.split(separator: ";") } ?? []
        return own.map { $0.trimmed }.first { $0.hasPrefix("detail=") }.map { String($0.dropFirst("detail=".count)) }
            ?? ""
    }
}
