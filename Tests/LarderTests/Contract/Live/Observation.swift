import Foundation
import TestKit

/// One response of the running server to a request for a documented operation.
struct Observation: Sendable {
    /// Key of the operation, such as `GET /v1/ships`.
    let operation: String
    /// The request, for people.
    let request: String
    let isHead: Bool
    let response: ReceivedResponse
}
