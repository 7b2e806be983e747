package import Cluster
package import Foundation
package import GRDB
package import Upstream

/// A response that is no list of the API, and why: `2 forecasts`.
package struct UnusableResponse: Error, Equatable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension TolerantList {
    /// Decodes the first elements of a list that a response has.
    ///
    /// - Parameter form: The expected form, for the reason of an unusable response: `a list of ships`.
    package init(json: Data, as form: String, maximum: Int = ListLimit.elements) throws(UnusableResponse) {
        do {
            try self.init(json: json, maximum: maximum)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw UnusableResponse("not \(form)")
        } catch {
            throw UnusableResponse("not JSON")
        }
    }
}

extension IncomingResponse {
    /// Reads the body of a response that is to be stored.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)``, with the reason of `read`.
    package func usable<Value>(_ read: (Data) throws(UnusableResponse) -> Value) throws(UpstreamError) -> Value {
        do {
            return try read(Data(body))
        } catch {
            throw .badResponse(status: status, reason: error.reason)
        }
    }
}

extension UserDatabase {
    /// Returns the write of the rows of a response: in the transaction that stores the response, or before it if
    /// several servers share the rows.
    ///
    /// - Parameters:
    ///   - next: writes the next part, and returns it and whether it was the last one. It may run again after a part
    ///     that was not committed.
    ///   - committed: is called after the commit of each part.
    package func persistRows<Part: Sendable>(
        scope: String,
        next: @escaping @Sendable (Database) throws -> (part: Part, isLast: Bool),
        committed: @escaping @Sendable (Part) -> Void
    ) -> Resource.PersistRows {
        guard isShared else {
            return .inParts { db in
                let (part, isLast) = try next(db)
                db.afterNextTransaction { _ in committed(part) }
                return isLast
            }
        }
        return .before {
            var isComplete = false
            while !isComplete {
                let (part, isLast) = try await write(scope: scope, next)
                committed(part)
                isComplete = isLast
            }
        }
    }
}
