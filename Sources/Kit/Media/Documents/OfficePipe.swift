import Crypto
import Foundation

/// The socket at which a LibreOffice listens for a second one of its profile. It is in `/tmp`, whatever `TMPDIR` says,
/// and who is confined cannot take it away again.
enum OfficePipe {
    /// Where it is: the only place beside its job's folder where LibreOffice may put anything, and nothing but sockets.
    static let folder = "/tmp"

    /// The path of the socket. Source: LibreOffice's sal/osl/unx/pipe.cxx and desktop/source/app/officeipcthread.cxx
    /// (`CreateMD5FromString`).
    ///
    /// - Parameters:
    ///   - profile: URL of the profile, as it is given to LibreOffice.
    ///   - user: the number of the user who runs it.
    static func path(profile: String, user: uid_t) -> String {
        let digest = Insecure.MD5.hash(
            data: Data(profile.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        )
        // Small numbers have one digit there.
        return "\(folder)/OSL_PIPE_\(user)_SingleOfficeIPC_" + digest.map { String($0, radix: 16) }.joined()
    }

    /// Takes it away, if it is there.
    static func remove(profile: String) {
        unlink(path(profile: profile, user: getuid()))
    }
}
