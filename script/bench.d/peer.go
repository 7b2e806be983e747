// What a Go developer would write for two screens: net/http, database/sql with SQLite, encoding/json. Each request looks
// its session up, reads the rows of the same database, and has an ETag by SHA-256.
//
//	peer DATABASE
//
// Prints its address when it listens.
package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

type action struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Method  string            `json:"method"`
	Href    string            `json:"href"`
	Body    map[string]string `json:"body,omitempty"`
	Confirm *string           `json:"confirm"`
	Enabled bool              `json:"enabled"`
}

type ship struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Type            *string  `json:"type"`
	TypeText        string   `json:"type_text"`
	YearBuilt       *int     `json:"year_built"`
	YearBuiltText   string   `json:"year_built_text"`
	ImageURL        string   `json:"image_url"`
	Href            string   `json:"href"`
	UpstreamPresent bool     `json:"upstream_present"`
	Actions         []action `json:"actions"`
}

type file struct {
	Name         string   `json:"name"`
	Path         string   `json:"path"`
	Type         string   `json:"type"`
	Size         *int64   `json:"size"`
	SizeText     *string  `json:"size_text"`
	CreatedAt    *string  `json:"created_at"`
	ModifiedAt   *string  `json:"modified_at"`
	ModifiedText *string  `json:"modified_text"`
	MediaType    *string  `json:"media_type"`
	MIMEType     *string  `json:"mime_type"`
	Published    bool     `json:"published"`
	PublicURL    *string  `json:"public_url"`
	Icon         string   `json:"icon"`
	Viewer       string   `json:"viewer"`
	KeptOffline  bool     `json:"kept_offline"`
	Downloaded   bool     `json:"downloaded"`
	PreviewURL   *string  `json:"preview_url"`
	Href         string   `json:"href"`
	Actions      []action `json:"actions"`
}

type meta struct {
	Screen  string `json:"screen"`
	Offline bool   `json:"offline"`
	Stale   bool   `json:"stale"`
}

type response struct {
	Data struct {
		Items any `json:"items"`
	} `json:"data"`
	Meta meta `json:"meta"`
}

type server struct{ session, ships, files *sql.Stmt }

func (s *server) account(r *http.Request, app string) (account string, err error) {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	return account, s.session.QueryRow(hash[:], app).Scan(&account)
}

func (s *server) respond(w http.ResponseWriter, r *http.Request, screen string, items any) {
	content := response{Meta: meta{Screen: screen, Offline: true, Stale: true}}
	content.Data.Items = items
	body, err := json.Marshal(content)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	hash := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(hash[:]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func read[Row any](rows *sql.Rows, err error, scan func(*sql.Rows) (Row, error)) ([]Row, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items := []Row{}
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		items = append(items, row)
	}
	return items, rows.Err()
}

func (s *server) showShips(w http.ResponseWriter, r *http.Request) {
	account, err := s.account(r, "ships")
	if err != nil {
		http.Error(w, "no session", http.StatusUnauthorized)
		return
	}
	rows, err := s.ships.Query(account)
	items, err := read(rows, err, func(rows *sql.Rows) (one ship, err error) {
		err = rows.Scan(&one.ID, &one.Name, &one.Type, &one.YearBuilt, &one.UpstreamPresent)
		one.Href = "/v1/ships/" + url.PathEscape(one.ID)
		one.ImageURL = one.Href + "/image"
		one.TypeText, one.YearBuiltText = "N/A", "N/A"
		if one.Type != nil {
			one.TypeText = *one.Type
		}
		if one.YearBuilt != nil {
			one.YearBuiltText = strconv.Itoa(*one.YearBuilt)
		}
		one.Actions = []action{{ID: "delete", Title: "Delete", Method: "DELETE", Href: one.Href, Enabled: true}}
		return
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.respond(w, r, "ships.list", items)
}

func text(milliseconds *int64, layout string) *string {
	if milliseconds == nil {
		return nil
	}
	text := time.UnixMilli(*milliseconds).UTC().Format(layout)
	return &text
}

func (s *server) showFiles(w http.ResponseWriter, r *http.Request) {
	account, err := s.account(r, "disk")
	if err != nil {
		http.Error(w, "no session", http.StatusUnauthorized)
		return
	}
	rows, err := s.files.Query("disk/"+account, account)
	items, err := read(rows, err, func(rows *sql.Rows) (one file, err error) {
		var created, modified *int64
		err = rows.Scan(&one.Path, &one.Name, &one.Type, &one.Size, &created, &modified, &one.MediaType, &one.MIMEType,
			&one.Published, &one.PublicURL)
		one.CreatedAt, one.ModifiedAt = text(created, time.RFC3339), text(modified, time.RFC3339)
		one.ModifiedText = text(modified, "2 January 2006, 15:04")
		if one.Size != nil {
			size := fmt.Sprintf("%.1f KB", float64(*one.Size)/1024)
			one.SizeText = &size
		}
		one.Icon, one.Viewer = "word", "text"
		one.Href = "/v1/disk/file?path=" + url.QueryEscape(one.Path)
		one.Actions = []action{{ID: "keep_offline", Title: "Add to offline", Method: "PUT", Href: "/v1/disk/offline",
			Body: map[string]string{"path": one.Path}, Enabled: true}}
		return
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.respond(w, r, "disk.files", items)
}

func main() {
	log.SetFlags(0)
	database, err := sql.Open("sqlite3", "file:"+os.Args[1]+"?mode=ro")
	if err != nil {
		log.Fatal(err)
	}
	prepare := func(text string) *sql.Stmt {
		statement, err := database.Prepare(text)
		if err != nil {
			log.Fatal(err)
		}
		return statement
	}
	s := &server{
		session: prepare(`SELECT account FROM session WHERE token_hash = ? AND app = ?`),
		ships: prepare(`SELECT id, name, type, year_built, listed FROM ship
			WHERE removed_revision IS NULL AND NOT EXISTS (
				SELECT 1 FROM ship_of_account WHERE account = ? AND ship_id = id AND hidden = 1)
			ORDER BY sort_key, id LIMIT 100`),
		files: prepare(`SELECT item.path, item.name, item.kind, item.size, item.created, item.modified, item.media_type,
				item.mime_type, item.published, item.public_url
			FROM page JOIN page_row ON page_row.page_id = page.id
			JOIN disk_item AS item ON item.path = page_row.row_key
			WHERE page.account = ? AND item.account = ? AND page.screen = 'files'
			ORDER BY page_row.position LIMIT 20`),
	}
	http.HandleFunc("/v1/ships", s.showShips)
	http.HandleFunc("/v1/disk/files", s.showFiles)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
