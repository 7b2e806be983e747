import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Disk

// Helpers for tests of offline files.
extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Runs a test after a login and a mark.
    ///
    /// - Parameters:
    ///   - path: The file or folder to be kept offline.
    ///   - state: The state of the mark to wait for; nil to run the test directly after marking.
    ///   - test: Gets the token of the login.
    static func run(
        _ disk: FakeYandexDisk,
        _ settings: Settings = Settings(),
        keeping path: String,
        until state: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ test: @Sendable (DiskHarness, String) async throws -> Void
    ) async throws {
        try await run(disk, settings) { app in
            let token = try await app.logIn()
            try await app.keep(path, as: token)
            if let state { try await app.offline(path, is: state, as: token, sourceLocation: sourceLocation) }
            try await test(app, token)
        }
    }

    /// Marks a file or folder to be kept offline.
    @discardableResult
    func keep(_ path: String, as token: String) async throws -> Exchanged {
        try await ask(.put, "/v1/disk/offline", as: token, json: #"{"path":"\#(path)"}"#)
    }

    /// Returns a row of the screen of offline files.
    func offlineRow(_ path: String, as token: String) async throws -> [String: JSON] {
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
            // In each round: the task that sleeps next may not do so yet.
            if step > .zero { clock.advance(by: step) }
            return try await offlineRow(path, as: token)["state"] == .string(state)
        }
    }
}
