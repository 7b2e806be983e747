import Foundation
import HTTPSemantics
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

// What tests of writes that wait need.
extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Sends a write that prefers to be left.
    func leave(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String,
        json: String? = nil
    ) async throws -> Exchanged {
        var fields: HTTPFields = [.prefer: "respond-async"]
        if json != nil { fields[.contentType] = "application/json" }
        return try await ask(method, target, as: token, fields, body: json.map { Data($0.utf8) })
    }

    /// Waits until an operation is in a state.
    func outbox(
        _ href: String,
        is state: String,
        as token: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await BoundedWait.poll(for: "\(href) to be \(state)", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            return try await get(href, as: token)["data.state"] == .string(state)
        }
    }

    /// Waits until nothing waits.
    func drained(sourceLocation: SourceLocation = #_sourceLocation) async {
        await BoundedWait.poll(for: "the outbox to drain", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            return store.outbox.accounts.isEmpty
        }
    }
}
