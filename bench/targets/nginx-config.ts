export interface NginxConfigOptions {
  readonly port: number
  readonly upstreamPort: number
  /** Where nginx may put its temporary files. */
  readonly directory: string
}

/** nginx as a careful operator sets it up for streams: one process, nothing buffered, connections kept. */
export function nginxConfig({ port, upstreamPort, directory }: NginxConfigOptions): string {
  return `daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${directory}/nginx.pid;
error_log stderr crit;
events { worker_connections 19000; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  tcp_nodelay on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  upstream simulated {
    server 127.0.0.1:${upstreamPort};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_max_body_size 256m;
    client_body_buffer_size 64k;
    location / {
      proxy_pass http://simulated;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`
}
