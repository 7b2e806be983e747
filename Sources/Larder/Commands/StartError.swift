import AppInterface
import ArgumentParser
import Backup
import Certificates
import Database
import Sandbox
import Settings
import SharedStore
import Web

/// The errors that keep a server from starting, as the program reports them: one line on standard error, and the exit
/// code.
enum StartError {
    /// Runs an operation.
    /// - Throws: `ExitCode` in place of an error that has a sentence of its own; any other error as it is.
    static func reporting(_ operation: () async throws -> Void) async throws {
        do {
            try await operation()
        } catch {
            guard let code = exitCode(of: error) else { throw error }
            StandardError.write("larder: \(IntegrityCheck.naming(error))\n")
            throw code
        }
    }

    /// Returns the exit code of an error (sysexits.h); nil if it has none.
    private static func exitCode(of error: any Error) -> ExitCode? {
        switch error {
        case CertificateError.exists, CertificateError.unwritable, CertificateError.unusableName: .failure
        case is SettingError, is CertificateError, is WebFolder.Unusable, is AccessCheck,
            is SharedSeal.WrongKey:
            ExitCode(78)
        case is CommandProcess.NotStarted: ExitCode(127)
        case is StorageError, is SharedStoreError, is BackupError, is SandboxError, is CannotListen,
            is Archive.Refusal:
            .failure
        default: nil
        }
    }
}
