import Foundation
import Subprocess
import SystemPackage
import TestKit

@testable import Media

/// A folder of a test's own, with an engine that works below it; gone with the value.
final class Scratch: Sendable {
    struct ToolFailed: Error, CustomStringConvertible {
        let description: String
    }

    private let temporary: TemporaryFolder
    var folder: URL { temporary.url }
    let tools: MediaTools
    let limits: MediaLimits
    let engine: MediaEngine

    init(tools: MediaTools = installed, limits: MediaLimits = MediaLimits()) throws {
        temporary = try TemporaryFolder()
        self.tools = tools
        self.limits = limits
        engine = try MediaEngine(tools: tools, limits: limits, folder: temporary.url.appending(path: "work"))
    }

    /// The tools of this machine; the worker is beside the test bundle.
    static let installed = MediaTools.find(
        searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
        executable: CommandLine.arguments[0]
    )

    func url(_ name: String) -> URL { folder.appending(path: name) }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> URL {
        try Data(bytes).write(to: url(name))
        return url(name)
    }

    /// Names of the files that the engine has left in its folder of jobs.
    var leftovers: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url("work").path)) ?? [] }

    /// Runs a program that is independent of Larder and gives its standard output.
    @discardableResult
    func tool(_ name: String, _ arguments: [String]) async throws -> [UInt8] {
        let result = try await run(
            .name(name),
            arguments: Arguments(arguments),
            workingDirectory: FilePath(folder.path),
            output: .bytes(limit: 256 << 20),
            error: .string(limit: 1 << 20)
        )
        // qpdf ends with 3 if it only warns; a test that allows no warning checks the output.
        guard result.terminationStatus.isSuccess else {
            let output = result.standardError + String(decoding: result.standardOutput, as: UTF8.self)
            throw ToolFailed(description: "\(name) \(arguments): \(result.terminationStatus) \(output)")
        }
        return result.standardOutput
    }

    func text(of name: String, _ arguments: [String]) async throws -> String {
        String(decoding: try await tool(name, arguments), as: UTF8.self)
    }
}
