import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

// Helpers for tests of pending writes.
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

    /// Waits until an operation is in a state, and returns its screen of that time: the next one may differ.
    @discardableResult
    func outbox(
        _ href: String,
        is state: String,
        as token: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Exchanged {
        var seen: Exchanged?
        try await BoundedWait.poll(for: "\(href) to be \(state)", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            let screen = try await get(href, as: token)
            seen = screen
            return screen["data.state"] == .string(state)
        }
        return try #require(seen)
    }

    /// Waits until nothing waits.
    func drained(sourceLocation: SourceLocation = #_sourceLocation) async {
        await BoundedWait.poll(for: "the outbox to drain", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            return store.outbox.accounts.isEmpty
        }
    }
}
