import ArgumentParser
import Foundation
import Server

/// `larder certificate`: creates a certificate authority, and certificates of it for this server.
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

/// Instructions for installing a new certificate on a server and for making clients trust it.
struct CertificateInstructions {
    let folder: CertificateFolder
    let made: CertificateFolder.Made

    /// The lines of standard output.
    var text: String {
        let server = folder.server
        return """
            \(server.certificate.path): valid until \(CertificateError.text(of: made.notAfter)), for
              \(made.names.joined(separator: "\n  "))

            A server that runs reads it again at SIGHUP. To start one that phones can reach:
              larder serve --http-host 0.0.0.0 --http-access pairing --http-tls-certificate \(server.certificate.path) \
            --http-tls-key \(server.key.path)


            """ + (made.isAuthorityNew ? trust : "Clients that trust \(folder.authority.certificate.path) trust it.\n")
    }

    private var trust: String {
        let file = folder.authority.certificate.path
        let host = made.names.first { $0.contains(".") } ?? "localhost"
        return """
            Clients have to trust the authority \(file) once. Its fingerprint (SHA-256) is
              \(made.fingerprint)
            Compare it on each device, and keep \(folder.authority.key.path) to yourself: who has it
            can pretend to be any server to these devices.

              iPhone, iPad      send authority.crt to the device and open it; install the profile under Settings >
                                General > VPN & Device Management, then turn it on under Settings > General > About >
                                Certificate Trust Settings
              Android           Settings > Security > Encryption & credentials > Install a certificate > CA
                                certificate; browsers trust it then, and apps whose network security configuration
                                trusts user certificates
              macOS             security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain \(file)
              Windows           certutil -addstore -user Root authority.crt
              Chromium, Linux   certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n Larder -i \(file)
              Firefox           Settings > Privacy & Security > View Certificates > Authorities > Import
              Debian, Ubuntu    cp \(file) /usr/local/share/ca-certificates/larder.crt && update-ca-certificates
              curl              curl --cacert \(file) https://\(host):8080/health/live

            """
    }
}
