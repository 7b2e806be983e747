import ArgumentParser
import Database
import Foundation
import Screens

/// `larder devices revoke`.
struct DevicesRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Unpair a device, such as a lost phone.",
        discussion: """
            Its token opens nothing from then on, and what it is loading is cut off, within
            a second if the server runs.

            EXAMPLES
              larder devices revoke 9f86d081884c7d65
              larder devices revoke "Anna's phone"
            """
    )

    /// Longest time that a server is waited for.
    private static let patience = 100
    private static let pause: Duration = .milliseconds(100)

    @Argument(help: "The id of the device, or its name if no other has it.")
    var device: String

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let found = try configuration.pairedDevices().filter { $0.id == device || $0.name == device }
        guard let chosen = found.first, found.count == 1 else {
            let reason = found.isEmpty ? "no device has the id or name" : "\(found.count) devices have the name"
            throw Self.failure("\(reason) \(device): see larder devices")
        }
        do {
            let database = try configuration.openDatabase(label: "devices")
            try await DeviceStore(database).remove(chosen.id)
            try database.close()
        } catch StorageError.directoryInUse {
            try await leave(chosen, RevocationFile(in: configuration.dataDirectory))
            guard try !configuration.pairedDevices().contains(where: { $0.id == chosen.id }) else {
                throw Self.failure("the server could not unpair \(chosen.name): its log says why")
            }
        } catch let error as StorageError {
            throw Self.failure("\(error)")
        }
        StandardOutput.write("\(chosen.name) (\(chosen.id)) is not paired any more\n")
    }

    /// Leaves a device to the server, and waits until that has looked.
    private func leave(_ device: Device, _ file: RevocationFile) async throws {
        try await wait(for: file)
        do {
            try file.leave(device.id)
        } catch {
            throw Self.failure("the server cannot be told: \(error)")
        }
        do {
            try await wait(for: file)
        } catch {
            file.remove()
            throw error
        }
    }

    private func wait(for file: RevocationFile) async throws {
        for _ in 0..<Self.patience where file.isPending { try await Task.sleep(for: Self.pause) }
        guard !file.isPending else {
            throw Self.failure("the program that uses the data directory did not respond within ten seconds")
        }
    }

    private static func failure(_ text: String) -> ExitCode {
        StandardError.write("larder: \(text)\n")
        return .failure
    }
}
