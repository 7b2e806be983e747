import ArgumentParser
import Certificates
import Foundation

/// `larder certificate`: an authority of one's own, and certificates of it for this server.
struct CertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Make a certificate for HTTPS, by an authority of your own.",
        discussion: """
            FOLDER gets four files in PEM form: authority.crt, which clients have to
            trust, and authority.key, which is for its owner only and no program but this
            command reads; server.crt and server.key, which larder serve gets as
            http.tls_certificate and http.tls_key. What is there is never replaced, but
            for server.crt and server.key by --renew, whose certificate has the names of
            the one before it. The certificate holds for 397 days, the authority for ten
            years: clients need to learn to trust it only once.

            Without --name the certificate is for the names and addresses of this machine.

            EXAMPLES
              larder certificate ./tls
              larder certificate ./tls --name larder.home.arpa --name 192.168.1.5
              larder certificate ./tls --renew && pkill -HUP -x larder
            """
    )

    @Argument(help: "Folder of the files.", completion: .directory)
    var folder: String

    @Option(name: .long, help: "Host name or address that the certificate is for; may be given several times.")
    var name: [String] = []

    @Flag(name: .long, help: "Replace the certificate of the server; the authority stays.")
    var renew = false

    func run() async throws {
        try await StartError.reporting {
            let names = try name.map { try HostName($0) }
            let folder = CertificateFolder(URL(filePath: folder, directoryHint: .isDirectory).absoluteURL)
            let made = try folder.make(
                names: names.isEmpty ? nil : names,
                renews: renew,
                authorityName: "Larder of \(ProcessInfo.processInfo.hostName)",
                now: Date()
            )
            StandardOutput.write(CertificateInstructions(folder: folder, made: made).text)
        }
    }
}
