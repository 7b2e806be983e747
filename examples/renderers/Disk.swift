// The Disk app in a terminal: disk http://127.0.0.1:8080 [LANGUAGE]
@main struct Disk {
    static func main() async { await Terminal("disk").run() }
}
