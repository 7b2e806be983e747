import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Disk

// What tests of offline files need.
extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Marks a file or folder to be kept offline.
    @discardableResult
    func keep(_ path: String, as token: String) async throws -> Exchanged {
        try await ask(.put, "/v1/disk/offline", as: token, json: #"{"path":"\#(path)"}"#)
    }

    /// Returns a row of the screen of offline files.
    func offlineRow(_ path: String, as token: String) async throws -> [String: JSONFields.Value] {
        let response = try await get("/v1/disk/offline?limit=100", as: token)
        guard case .array(let items) = response["data.items"] else { return [:] }
        for case .object(let item) in items where item["path"] == .string("disk:\(path)") { return item }
        return [:]
    }

    /// Waits until a mark is in a state.
    func offline(
        _ path: String,
        is state: String,
        as token: String,
        advancing step: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await BoundedWait.poll(for: "\(path) to be \(state)", sourceLocation: sourceLocation) {
            // Each turn: what sleeps next may not do so yet.
            if step > .zero { clock.advance(by: step) }
            return try await offlineRow(path, as: token)["state"] == .string(state)
        }
    }
}
