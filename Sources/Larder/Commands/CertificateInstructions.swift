import Certificates
import Foundation

/// What is to be done with a certificate that was made: how a server gets it, and how clients learn to trust it.
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

    /// How clients learn to trust the authority.
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
