// The Ships app in a terminal: ships http://127.0.0.1:8080 [LANGUAGE]
@main struct Ships {
    static func main() async { await Terminal("ships").run() }
}
