package import Foundation

/// Why a certificate and its key cannot be used, or were not made.
package enum CertificateError: Error, Equatable, CustomStringConvertible {
    /// The file is not there, or not readable.
    case unreadable(URL, String)
    /// The file has nothing of this kind in PEM.
    case noPEM(URL, String)
    /// The file has PEM of this kind whose content is not what it says, or is of a kind that is not used here.
    case malformed(URL, String)
    /// The key needs a passphrase.
    case encryptedKey(URL)
    /// The key is that of another certificate.
    case keyDoesNotFit(key: URL, certificate: URL)
    /// The key fits a certificate of the file, but not the first one.
    case wrongOrder(URL)
    /// The certificate is not valid any more.
    case expired(URL, Date)
    /// The certificate is not valid yet.
    case notYetValid(URL, Date)
    /// Names of hosts are only believed as alternative names (RFC 9110 §4.3.4).
    case noNames(URL)
    /// A name or an address that no certificate can have.
    case unusableName(String)
    /// The file exists, and replacing it was not requested.
    case exists(URL)
    /// The file cannot be written.
    case unwritable(URL, String)

    /// One line for people.
    package var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file.path) \(reason)"
        case .noPEM(let file, let kind): "\(file.path) has no \(kind) in PEM form"
        case .malformed(let file, let kind): "\(file.path) has a \(kind) that cannot be used: it is damaged or unusual"
        case .encryptedKey(let file):
            "the key in \(file.path) needs a passphrase; store it without one, readable by its owner only"
        case .keyDoesNotFit(let key, let certificate):
            "the key in \(key.path) is not that of the certificate in \(certificate.path)"
        case .wrongOrder(let file): "\(file.path) has to begin with the certificate of the server"
        case .expired(let file, let date): "the certificate in \(file.path) has expired on \(Self.text(of: date))"
        case .notYetValid(let file, let date):
            "the certificate in \(file.path) is not valid before \(Self.text(of: date)); is the clock right?"
        case .noNames(let file):
            "the certificate in \(file.path) has no alternative names (SAN), so no client would accept it"
        case .unusableName(let name): "\"\(name)\" is neither a host name nor an address"
        case .exists(let file): "\(file.path) exists already"
        case .unwritable(let file, let reason): "\(file.path) cannot be written: \(reason)"
        }
    }

    /// Returns a date as it is written in sentences.
    package static func text(of date: Date) -> String {
        date.formatted(.iso8601.year().month().day().dateSeparator(.dash)) + " (UTC)"
    }
}
