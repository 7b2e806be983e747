import ArgumentParser
import Foundation
import Screens
import Server
import Storage

/// `larder devices`: the devices that are paired with the server.
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
        return HumanReadable.table([["ID", "PROFILE", "PAIRED", "SEEN", "NAME"]] + rows)
    }
}

extension LarderConfiguration {
    /// Reads the paired devices of the data directory, even while a server uses it. Ends the process with one line and
    /// exit code 1 if there is no database, or if it cannot be used.
    func pairedDevices() throws -> [Device] {
        try requireDatabase()
        var devices: [Device]?
        try Self.reportingStorageErrors { devices = try DeviceStore.devices(in: dataDirectory) }
        return devices ?? []
    }
}

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

    /// Largest number of checks for the server's response.
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
            throw ExitCode.reporting("\(reason) \(device): see larder devices")
        }
        do {
            let database = try configuration.openDatabase(label: "devices")
            try await DeviceStore(database).remove(chosen.id)
            try database.close()
        } catch StorageError.directoryInUse {
            try await leave(chosen, RevocationFile(in: configuration.dataDirectory))
            guard try !configuration.pairedDevices().contains(where: { $0.id == chosen.id }) else {
                throw ExitCode.reporting("the server could not unpair \(chosen.name): its log says why")
            }
        } catch let error as StorageError {
            throw ExitCode.reporting("\(error)")
        }
        StandardOutput.write("\(chosen.name) (\(chosen.id)) is not paired any more\n")
    }

    /// Tells the server to revoke a device, and waits until it has done so.
    private func leave(_ device: Device, _ file: RevocationFile) async throws {
        try await wait(for: file)
        do {
            try file.leave(device.id)
        } catch {
            throw ExitCode.reporting("the server cannot be told: \(error)")
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
            throw ExitCode.reporting("the program that uses the data directory did not respond within ten seconds")
        }
    }
}

/// `larder pair`: a code for a device.
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Make a code that pairs a device with the server.",
        discussion: """
            A phone or another machine needs a paired device if http.access is pairing:
            it opens the page /pair of the server and enters the code, which is good for
            ten minutes and once. The server may run; a new code replaces the one before.
            Run it as the user of the server, with the same settings.

            EXAMPLES
              larder pair
              larder pair --profile anna --config /etc/larder/larder.yaml
            """
    )

    @Option(name: .long, help: "The profile that the device gets: whose shopping list and documents.")
    var profile: String = Pairing.standardProfile

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let access = configuration.settings[HTTPSettings.access]
        guard access == .pairing else {
            throw ExitCode.reporting("http.access is \(access.rawValue): the server asks for no paired devices")
        }
        guard ScreenRequest.isProfile(profile) else {
            throw ExitCode.reporting("a profile has \(ScreenRequest.profileForm)")
        }
        try configuration.requireDatabase("; start the server first")
        let code = PairingCode.make()
        do {
            let end = Date().addingTimeInterval(PairingCode.lifetime)
            try PairingCodeFile(in: configuration.dataDirectory).leave(code, profile: profile, until: end)
        } catch {
            throw ExitCode.reporting("the code cannot be left in \(configuration.dataDirectory.path): \(error)")
        }
        let names = configuration.certificate.flatMap { try? ServerCertificate($0, protocols: [], now: Date()).names }
        let port = configuration.settings[HTTPSettings.port]
        StandardOutput.write(FirstPairing.text(code, at: PairingAddress.origin(of: configuration, names, port: port)))
    }
}
