import Crypto
import Foundation

/// The socket at which LibreOffice listens for a second instance with its profile. It is in `/tmp`, whatever `TMPDIR`
/// is, and a confined process cannot remove it.
enum OfficePipe {
    /// Its directory, the only one outside of the job's in which LibreOffice may create anything, and only sockets.
    static let folder = "/tmp"

    /// Returns the path of the socket. Source: LibreOffice's sal/osl/unx/pipe.cxx and
    /// desktop/source/app/officeipcthread.cxx (`CreateMD5FromString`).
    ///
    /// - Parameters:
    ///   - profile: URL of the profile, as it is passed to LibreOffice.
    ///   - user: the id of the user who runs it.
    static func path(profile: String, user: uid_t) -> String {
        let digest = Insecure.MD5.hash(
            data: Data(profile.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        )
        // Bytes below 16 have one digit there.
        return "\(folder)/OSL_PIPE_\(user)_SingleOfficeIPC_" + digest.map { String($0, radix: 16) }.joined()
    }

    /// Removes the socket, if it exists.
    static func remove(profile: String) {
        unlink(path(profile: profile, user: getuid()))
    }
}

/// Files of the system that LibreOffice reads beside those that every program may read.
enum OfficeFiles {
    /// Names of users are a part of the name of its socket.
    static let read = [
        "/etc/libreoffice", "/etc/mime.types", "/etc/papersize", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
        "/var/lib/libreoffice", "/var/spool/libreoffice",
    ]
}
