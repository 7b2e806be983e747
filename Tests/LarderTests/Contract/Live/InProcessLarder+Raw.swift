import Foundation
import TestKit
import Testing

extension InProcessLarder {
    /// Sends bytes as they are over a connection of its own, and reads the one response until the server closes.
    func raw(_ text: String) async throws -> ReceivedResponse {
        let exchange = try await RawExchange(port: port, send: text)
        return try #require(ReceivedResponse(http: Data(exchange.received)), "no whole response: \(exchange.text)")
    }
}
