import ArgumentParser
import Cluster
import Foundation
import Screens
import Storage

/// `larder account`: operations on accounts.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Reset the password of an account.",
        subcommands: [ResetPasswordCommand.self]
    )
}

/// `larder account reset-password`.
struct ResetPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-password",
        abstract: "Set another password for an account and end all of its sessions.",
        discussion: """
            The new password is the first line of the standard input, so that it is
            neither in the list of processes nor in the shell's history. A server that
            uses the data directory has to be stopped first.

            EXAMPLES
              larder account reset-password --user bob
              printf '%s' "$PASSWORD" | larder account reset-password --user bob
            """
    )

    @Option(name: .long, help: "The app of the account.")
    var app: String = "notes"

    @Option(name: .long, help: "The name of the account, in any letter case.")
    var user: String

    @OptionGroup var options: DataOptions

    func run() async throws {
        let configuration = try options.load()
        guard let type = configuration.apps.types.first(where: { $0.name == app }) else {
            throw ValidationError("There is no app \(app).")
        }
        do {
            if configuration.store == nil { try configuration.requireDatabase() }
            guard let password = readLine(strippingNewline: true) else {
                throw ExitCode.reporting("the new password is expected on the standard input")
            }
            try await reset(type, to: password, configuration)
        } catch  where error is StorageError || error is ClusterError || error is AccountAdministrationError {
            throw ExitCode.reporting("\(error)")
        }
        StandardOutput.write("the password of \(user) is changed, and all sessions of the account have ended\n")
    }

    private func reset(_ type: any App.Type, to password: String, _ configuration: LarderConfiguration) async throws {
        let settings = configuration.settings.restricted(to: type.settings)
        if let shared = try ClusterService(configuration, node: "account", logger: .silent) {
            defer { shared.close() }
            try await shared.prepare()
            let users = try await Self.users(shared, configuration)
            return try await reset(
                try type.accountAdministration(users, SessionStore(users), settings),
                to: password
            )
        }
        let database = try configuration.openDatabase(label: "account")
        let users = UserDatabase(database)
        try await reset(try type.accountAdministration(users, SessionStore(users), settings), to: password)
        try database.close()
    }

    /// Returns the rows of several servers in a file for this command, because the servers' own files are in use.
    private static func users(_ shared: ClusterService, _ configuration: LarderConfiguration) async throws
        -> UserDatabase
    {
        let migrations = configuration.apps.migrations
        let database = try LarderDatabase(in: try .temporary(), migrations: migrations, logger: .silent)
        let journal = shared.journal(of: database)
        let users = UserDatabase(database, journal, kept: .zero)
        if let lag = try await users.catchUp() { throw lag.reason }
        return users
    }

    private func reset(_ accounts: (any AccountAdministration)?, to password: String) async throws {
        guard let accounts else { throw ExitCode.reporting("\(app) has no accounts with passwords") }
        try await accounts.resetPassword(of: user, to: password)
    }
}
