import ArgumentParser
import Database
import Foundation
import Screens

/// `larder devices`: what is paired with the server.
struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the paired devices, or revoke one.",
        discussion: """
            The server may run. Run it as the user of the server, with the same settings.

            EXAMPLES
              larder devices
              larder devices revoke 9f86d081884c7d65
              larder devices revoke "Anna's phone" --config /etc/larder/larder.yaml
            """,
        subcommands: [DevicesListCommand.self, DevicesRevokeCommand.self],
        defaultSubcommand: DevicesListCommand.self
    )
}

/// `larder devices list`.
struct DevicesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the paired devices.",
        discussion: """
            One line for each device: its id, its profile, time since it was paired, time
            since it was last seen (recorded every hour while the server runs), its name.

            EXAMPLES
              larder devices list
            """
    )

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let devices = try configuration.pairedDevices()
        guard !devices.isEmpty else { return StandardOutput.write("no device is paired\n") }
        StandardOutput.write(DeviceListing.text(devices, now: configuration.now))
    }
}

/// The table of `larder devices`.
enum DeviceListing {
    static func text(_ devices: [Device], now: Date) -> String {
        let rows = devices.map { device in
            [
                device.id, device.profile, HumanReadable.age(now.timeIntervalSince(device.pairedAt)),
                HumanReadable.age(now.timeIntervalSince(device.lastSeenAt)), device.name,
            ]
        }
        let table = [["ID", "PROFILE", "PAIRED", "SEEN", "NAME"]] + rows
        let widths = (0..<4).map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1 + 2, withPad: " ", startingAt: 0) }
            return cells.joined() + row[4] + "\n"
        }.joined()
    }
}

extension LarderConfiguration {
    /// Reads the paired devices of the data directory, also while a server uses it. Ends the process with one line and
    /// exit code 1 if there is no database, or it cannot be used.
    func pairedDevices() throws -> [Device] {
        var devices: [Device]?
        try Self.reportingStorageErrors { devices = try DeviceStore.devices(in: dataDirectory) }
        guard let devices else {
            StandardError.write("larder: there is no database in \(dataDirectory.path)\n")
            throw ExitCode.failure
        }
        return devices
    }
}
